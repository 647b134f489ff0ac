"""The log of a run: recorded calls in pages, with filters and full-text search."""

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from apps.explorations.run_warnings import fitted_words
from apps.explorations.words import role_word
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.scaffolds.running.hearing import asked_before
from apps.runs.journal.texts import texts_get
from apps.runs.models import Run, Step
from apps.runs.selectors import run_story, step_list
from apps.ui.sent import whole_number

PAGE = 200
SEARCH_CHUNK = 400
SEARCH_S = 1.5
STATUSES = {"ok": "read", "unread": "could not be read", "length": "cut off", "failed": "failed"}


@dataclass(frozen=True)
class LogFilter:
    """Filter of the log; empty fields match everything. `after` and `before` are step numbers (page borders).

    With `until`, the log of a replay as of that event.
    """

    role: str = ""
    round: int | None = None
    status: str = ""
    text: str = ""
    after: int = 0
    before: int = 0
    until: int | None = None

    @property
    def is_on(self) -> bool:
        return bool(self.role or self.round is not None or self.status or self.text)


@dataclass(frozen=True)
class LogRow:
    """A recorded call as a line of the log; `unread` is the reason if its text could not be read, `quote` the search hit.

    `fitted` lists text left out so that the prompt fits the model's context.
    """

    step: Step
    unread: str = ""
    quote: str = ""
    fitted: str = ""

    @property
    def word(self) -> str:
        return role_word(self.step.role)

    @property
    def state(self) -> str:
        if self.step.failure:
            return "failed"
        if self.unread:
            return "unread"
        return "length" if self.step.finish_reason == "length" else "ok"

    @property
    def asks_again(self) -> bool:
        """Whether the call repeats a request."""
        return bool(asked_before(self.step.key))

    @property
    def state_word(self) -> str:
        return {"ok": "ended", **{key: word for key, word in STATUSES.items() if key != "ok"}}[self.state]


@dataclass(frozen=True)
class LogPage:
    """A page of the log. `next_after` and `previous_before` are 0 at the end and the beginning.

    `searched_to` is set if the search ran out of time: later steps have not been searched.
    """

    rows: list[LogRow]
    total: int | None
    next_after: int = 0
    previous_before: int = 0
    searched_to: int = 0


class Notes(NamedTuple):
    """Notes on calls by key: reasons why a text is unreadable, and texts left out of a prompt."""

    unread: dict[str, str]
    fitted: dict[str, str]

    def row(self, step: Step, quote: str = "") -> LogRow:
        """The log line of a call."""
        return LogRow(step, self.unread.get(step.key, ""), quote, self.fitted.get(step.key, ""))


def _notes(run: Run) -> Notes:
    calls = run_story(run, {Kind.OUTPUT_UNREAD, Kind.PROMPT_FITTED}).calls
    unread = {one.call: f"{one.reason}; requested again" if one.again else one.reason for _, one in calls.unread}
    return Notes(unread, {one.call: fitted_words(one) for one in calls.fitted})


def log_page(run: Run, wanted: LogFilter) -> LogPage:
    """One page of recorded calls, oldest first; with `before`, the page that ends there."""
    notes = _notes(run)
    steps = _filtered(run, wanted, notes.unread)
    if wanted.text:
        return _search(steps, wanted, notes)
    total = steps.count()
    if wanted.before:
        found = list(steps.filter(pk__lt=wanted.before).order_by("-pk")[: PAGE + 1])
        more_before, found = len(found) > PAGE, list(reversed(found[:PAGE]))
        rows = [notes.row(step) for step in found]
        return LogPage(rows, total, rows[-1].step.pk if rows else 0, rows[0].step.pk if rows and more_before else 0)
    found = list(steps.filter(pk__gt=wanted.after)[: PAGE + 1])
    more, found = len(found) > PAGE, found[:PAGE]
    rows = [notes.row(step) for step in found]
    return LogPage(rows, total, rows[-1].step.pk if more else 0, rows[0].step.pk if rows and wanted.after else 0)


def _filtered(run: Run, wanted: LogFilter, unread: dict[str, str]) -> QuerySet[Step]:
    steps = step_list(run, role=wanted.role, round_=wanted.round, until=wanted.until)
    if wanted.status == "failed":
        return steps.exclude(failure="")
    if wanted.status == "length":
        return steps.filter(finish_reason="length")
    if wanted.status == "unread":
        return steps.filter(key__in=list(unread))
    if wanted.status == "ok":
        return steps.filter(failure="").exclude(Q(finish_reason="length") | Q(key__in=list(unread)))
    return steps


def _search(steps: QuerySet[Step], wanted: LogFilter, notes: Notes) -> LogPage:
    """Calls whose key, subject, text or reasoning contains the words; stops after `SEARCH_S` with the last searched step."""
    until = time.monotonic() + SEARCH_S
    needle = wanted.text.casefold()
    rows: list[LogRow] = []
    after = wanted.after
    while True:
        chunk = list(steps.filter(pk__gt=after)[:SEARCH_CHUNK])
        texts = texts_get(sha for step in chunk for sha in (step.text_sha, step.reasoning_sha))
        for step in chunk:
            quote = _hit(step, texts, needle)
            if quote is not None:
                rows.append(notes.row(step, quote))
                if len(rows) == PAGE:
                    return LogPage(rows, None, next_after=step.pk)
        if len(chunk) < SEARCH_CHUNK:
            return LogPage(rows, len(rows) if not wanted.after else None)
        after = chunk[-1].pk
        if time.monotonic() > until:
            return LogPage(rows, None, next_after=after, searched_to=after)


def _hit(step: Step, texts: dict[str, str], needle: str) -> str | None:
    """The words around the first hit; empty if the key or subject matched; None without a match."""
    for sha in (step.text_sha, step.reasoning_sha):
        text = texts.get(sha, "")
        at = text.casefold().find(needle)
        if at >= 0:
            start, end = max(0, at - 60), at + len(needle) + 80
            return f"{'…' if start else ''}{text[start:end].strip()}{'…' if end < len(text) else ''}"
    return "" if needle in step.key.casefold() or needle in step.subject.casefold() else None


def filter_from(query: Any) -> LogFilter:
    """The filter from a page's address; invalid values are ignored."""

    def number(name: str) -> int | None:
        return whole_number(query.get(name, ""))

    status = query.get("status", "")
    return LogFilter(
        role=query.get("role", "")[:40],
        round=number("round"),
        status=status if status in STATUSES else "",
        text=query.get("q", "").strip()[:200],
        after=number("after") or 0,
        before=number("before") or 0,
        until=number("at"),
    )
