"""The orchestrator's part in readings by a model: find what our check does not understand, let it be read, test the reading.

The calls enter no journal. Every round of formulas is kept when it ends; a request whose process died is continued from there.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from django.conf import settings
from django.db.models import F, Q
from django.utils import timezone

from apps.lemmas.kernel.work import parts_of
from apps.lemmas.readings.items import ReadItem
from apps.lemmas.readings.models import ModelReadings, ReadingState
from apps.mathcheck.formal import DOMAINS, Formal
from apps.mathcheck.formal_context import formal_at
from apps.mathcheck.words.texts import sentences
from apps.reasoning.domain.errors import AliasError, BackendError, RunHalted
from apps.reasoning.domain.tools import SANDBOX, MathFinding, MathJob, MathText, ToolAnswer, read_execution, read_findings
from apps.reasoning.domain.values import Unscored
from apps.reasoning.formal.asking import FormalModel, Unread
from apps.reasoning.formal.readings import Claimed, read_claim
from apps.reasoning.inference.aliases import TOOLS, Alias, load_usable
from apps.reasoning.ports import Dispatcher
from apps.reasoning.scaffolds.running.tooling import tool_request
from apps.reasoning.scaffolds.spec import AWAITED
from apps.runs.calls.outside import WRITTEN_PART, DispatcherFor, over_broker
from apps.runs.calls.sending import stop_calls

logger = logging.getLogger(__name__)
#: Formulas of one request, and formulas that are read at the same time.
MOST_FORMULAS, AT_ONCE = 10, 2
#: The most tokens of a reading, and characters of the text before it.
READING_TOKENS, MOST_BEFORE = 500, 2_000
FAILED = "The reading failed; the server log has the error."
DIFFERENT = "a second call says that the sentence claims something else"
UNSURE = "a second call cannot say whether the sentence claims the same"
T = TypeVar("T")
Parts = Sequence[tuple[str, str]]


class _Ended(Exception):
    """The request has ended early; the message is the reason for the page."""


@dataclass
class _Job:
    """A claimed request with its model, and the way to engines."""

    row: ModelReadings
    alias: Alias
    dispatcher_for: DispatcherFor
    parts: Parts
    calls: int = 0
    tokens: int = 0

    @property
    def problem(self) -> str:
        return self.row.run.problem_version.statement

    def drive(self, work: Callable[[Dispatcher, str], Coroutine[Any, Any, T]]) -> T:
        """Run `work` with a dispatcher, within the time that a model has. Raises `_Ended`."""
        run, within = f"reading-{uuid.uuid4()}", settings.HINT_WITHIN_S

        async def driven() -> T:
            async with asyncio.timeout(within), self.dispatcher_for(run, [self.alias, TOOLS[SANDBOX]]) as dispatcher:
                return await work(dispatcher, run)

        try:
            return asyncio.run(driven())
        except TimeoutError:
            stop_calls(run)
            raise _Ended(f"Nothing came back within {within:g} s. Does an inference worker serve {self.alias.name}?") from None
        except (Unread, BackendError, RunHalted) as error:
            raise _Ended(str(error)) from error


def readings_work(dispatcher_for: DispatcherFor = over_broker) -> int:
    """Answer all waiting requests, one after another; returns their number."""
    count = 0
    while (row := _claimed()) is not None:
        values: dict[str, Any] = {"state": ReadingState.DONE}
        try:
            _answer(row, dispatcher_for)
        except _Ended as reason:
            values = {"state": ReadingState.FAILED, "reason": str(reason)[:500]}
        except Exception:
            logger.exception("readings %s", row.pk)
            values = {"state": ReadingState.FAILED, "reason": FAILED}
        ModelReadings.objects.filter(pk=row.pk).update(touched_at=timezone.now(), **values)
        count += 1
    return count


def _claimed() -> ModelReadings | None:
    """The oldest request that no process is at, claimed for this one."""
    lost = Q(state=ReadingState.RUNNING, touched_at__lt=timezone.now() - timedelta(seconds=2 * settings.HINT_WITHIN_S))
    waiting = ModelReadings.objects.filter(Q(state=ReadingState.QUEUED) | lost)
    for row in waiting.select_related("run__problem_version")[:8]:
        if waiting.filter(pk=row.pk).update(state=ReadingState.RUNNING, touched_at=timezone.now()):
            return row
    return None


def _answer(row: ModelReadings, dispatcher_for: DispatcherFor) -> None:
    try:
        alias = load_usable(settings.MODELS_FILE)[row.alias]
    except (AliasError, KeyError):
        raise _Ended(f"models.toml has no model {row.alias}, or it is turned off.") from None
    if settings.SANDBOX == "off":
        raise _Ended("The sandbox is off in the settings, so nothing can be tested.")
    job = _Job(row, alias, dispatcher_for, parts_of(row.run, row.subject))
    found = job.drive(partial(_not_understood, job.parts, job.problem))
    known = {ReadItem.model_validate(one).place for one in row.items}
    asked = [one for one in found[:MOST_FORMULAS] if (one.text_id, one.anchor.start, one.anchor.end) not in known]
    ModelReadings.objects.filter(pk=row.pk).update(left=max(0, len(found) - MOST_FORMULAS))
    for start in range(0, len(asked), AT_ONCE):
        job.calls = job.tokens = 0
        items = job.drive(partial(_read_all, job, asked[start : start + AT_ONCE]))
        row.items = [*row.items, *(one.model_dump(mode="json") for one in items)]
        spent = {"calls": F("calls") + job.calls, "tokens": F("tokens") + job.tokens}
        if not ModelReadings.objects.filter(pk=row.pk).update(items=row.items, touched_at=timezone.now(), **spent):
            return  # The run was deleted.


async def _not_understood(parts: Parts, problem: str, dispatcher: Dispatcher, run: str) -> list[MathFinding]:
    """The formulas that our check does not understand, each place once."""
    found = await _checked(dispatcher, run, "check", parts, problem)
    if isinstance(found, Unscored):
        raise _Ended(f"The formulas could not be checked: {found.reason}.")
    places = {(one.text_id, one.anchor.start, one.anchor.end): one for one in found if one.outcome == "not_understood"}
    return list(places.values())


async def _checked(
    dispatcher: Dispatcher, run: str, key: str, parts: Parts, problem: str | None
) -> tuple[MathFinding, ...] | Unscored:
    """The findings of our check in the sandbox."""
    job = MathJob(texts=tuple(MathText(id=name, text=text) for name, text in parts), context=problem)
    final = await dispatcher.dispatch(tool_request(run, key, "check_math", job.model_dump_json(), AWAITED))
    return read_findings(ToolAnswer(job="check_math", execution=read_execution(final.text)))


async def _read_all(job: _Job, found: Sequence[MathFinding], dispatcher: Dispatcher, run: str) -> list[ReadItem]:
    model = FormalModel(dispatcher, run, job.alias.name, closing=job.alias.closes_by, deadline_s=settings.HINT_WITHIN_S)
    model.context_tokens = job.alias.context_tokens
    model.tokens = min(int(job.alias.context_tokens * WRITTEN_PART), READING_TOKENS)
    try:
        return await asyncio.gather(*(_read(job, model, f"{place}", one) for place, one in enumerate(found)))
    finally:
        job.calls, job.tokens = model.journal.spent.calls, model.journal.spent.tokens


async def _read(job: _Job, model: FormalModel, key: str, found: MathFinding) -> ReadItem:
    """Let the model read one formula; test the reading if it counts."""
    anchor = found.anchor
    place = (found.text_id, anchor.start, anchor.end)
    strictly = partial(formal_at, parts=job.parts, context=job.problem, place=place)
    read = await read_claim(model, key, claimed_of(job.parts, job.problem, found), list(DOMAINS), strictly)
    item = ReadItem(text_id=found.text_id, start=anchor.start, end=anchor.end, quote=anchor.quote, state="unread")
    if read.reading is None:
        return item.model_copy(update={"reason": read.reason})
    said = {"sentence": read.reading.sentence}
    if read.verdict == "same":
        tested = await _tested(model.dispatcher, model.run, key, read.reading)
        return item.model_copy(update={**said, "state": "counts", "finding": tested})
    state, reason = {"different": ("different", DIFFERENT), "unsure": ("unsure", UNSURE)}.get(
        read.verdict or "", ("unsure", f"the comparison cannot be read: {read.reason}")
    )
    return item.model_copy(update={**said, "state": state, "reason": reason})


async def _tested(dispatcher: Dispatcher, run: str, key: str, formal: Formal) -> MathFinding | None:
    """The finding on the claim of a reading, from its sentence alone."""
    found = await _checked(dispatcher, run, f"{key}/test", [("reading", formal.sentence)], None)
    if isinstance(found, Unscored):
        raise _Ended(f"A reading could not be tested: {found.reason}.")
    return next((one for one in found if one.anchor.start == formal.claim_start), None)


def claimed_of(parts: Parts, problem: str, found: MathFinding) -> Claimed:
    """The formula of a finding with its sentence, the text before it, and the statement it belongs to."""
    texts = dict(parts)
    text, start = texts[found.text_id], found.anchor.start
    inside = (one for one in sentences(text) if one.start <= start < one.end)
    at = next(((one.start, one.end) for one in inside), (start, found.anchor.end))
    before = [one for name, one in parts[: list(texts).index(found.text_id)] if name != "statement"]
    return Claimed(
        problem=problem,
        statement=texts["statement"] if found.text_id != "statement" and "statement" in texts else "",
        before="\n\n".join([*before, text[: at[0]]])[-MOST_BEFORE:].strip(),
        sentence=text[at[0] : at[1]].strip(),
        formula=found.anchor.quote,
    )
