"""Reads over runs: lists, pages of events, calls per agent, cost per role. All take a run that passed `access`."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, TypedDict

from django.db.models import Avg, Count, Max, Min, Q, QuerySet, Sum
from django.db.models.fields.json import KT

from apps.reasoning.domain.event_base import Kind
from apps.reasoning.story.run_story import RunStory, fold
from apps.reasoning.story.vocabulary import event_from
from apps.runs.journal.texts import text_get, texts_get
from apps.runs.models import APART, Run, RunEvent, Step

EVENT_PAGE = 500
STORY_CHUNK = 2_000
#: Recorded calls that a fork took over from its parent run, without a model call.
INHERITED = Q(attempt=0)
SPEED_CALLS = 300
SPEED_LOOKS_BACK = 20_000


class EventRow(TypedDict):
    """An event as the socket, the API and the JSONL export send it."""

    seq: int
    key: str
    kind: str
    at: str
    body: dict[str, Any]


def use_by_alias(run: Run) -> dict[str, tuple[int, int, int]]:
    """Calls, prompt tokens and completion tokens of each model that the run itself asked."""
    asked = Step.objects.filter(run=run, kind="call").exclude(INHERITED).order_by().values_list("alias")
    rows = asked.annotate(Count("pk"), Sum("prompt_tokens"), Sum("completion_tokens"))
    return {alias: (calls, prompt, completion) for alias, calls, prompt, completion in rows}


def event_row(event: RunEvent) -> EventRow:
    return {"seq": event.seq, "key": event.key, "kind": event.kind, "at": event.at.isoformat(), "body": event.body}


def event_page(run: Run, after: int = 0, limit: int = EVENT_PAGE, kinds: Iterable[str] = ()) -> list[EventRow]:
    """Events with `seq > after`, oldest first, at most `limit`; only `kinds`, where given."""
    rows = RunEvent.objects.filter(run=run, seq__gt=after)
    if kinds := list(kinds):
        rows = rows.filter(kind__in=kinds)
    return [event_row(event) for event in rows.order_by("seq")[:limit]]


def run_story(run: Run, of: Collection[Kind] | Q) -> RunStory:
    """The story of `run` from its events of these kinds, or from those that match the condition; no others are loaded."""
    wanted = of if isinstance(of, Q) else Q(kind__in=of)
    rows = RunEvent.objects.filter(wanted, run=run).order_by("seq").values_list("seq", "kind", "body")
    return fold((seq, event_from(kind, body)) for seq, kind, body in rows.iterator(chunk_size=STORY_CHUNK))


def run_list(runs: QuerySet[Run], *, query: str = "", scaffold: str = "", topic: str = "") -> QuerySet[Run]:
    """Filter a set of visible runs by words in title or statement, by scaffold, and by topic of the problem.

    Cells of experiments and rollouts of training jobs are left out; their own pages list them.
    """
    runs = runs.exclude(preset__in=APART)
    for word in query.split():
        runs = runs.filter(Q(title__icontains=word) | Q(problem_version__statement__icontains=word))
    if scaffold:
        runs = runs.filter(scaffold=scaffold)
    if topic:
        runs = runs.filter(problem_version__problem__topic=topic)
    return runs.select_related("problem_version__problem", "owner")


@dataclass(frozen=True)
class RoleCost:
    """Calls and tokens of one role; `inherited` and `inherited_completion` are the part that a fork took over."""

    role: str
    calls: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    seconds: float
    inherited: int = 0
    inherited_completion: int = 0


def steps_until(run: Run, until: int | None = None) -> QuerySet[Step]:
    """Recorded calls of models; with `until`, those that ended before that event."""
    steps = run.steps.filter(kind="call")
    if until is None:
        return steps
    over = RunEvent.objects.filter(run=run, kind__in=(Kind.CALL_ENDED, Kind.CALL_FAILED), seq__lte=until)
    return steps.filter(key__in=over.annotate(call=KT("body__call")).values("call"))


def cost_per_role(run: Run, until: int | None = None) -> list[RoleCost]:
    """Use of each role, most completion tokens first; with `until`, as of that event."""
    rows = (
        steps_until(run, until)
        .values("role")
        .annotate(
            calls=Count("pk"),
            prompt=Sum("prompt_tokens"),
            cached=Sum("cached_tokens"),
            completion=Sum("completion_tokens"),
            seconds=Sum("duration_s"),
            inherited=Count("pk", filter=INHERITED),
            inherited_completion=Sum("completion_tokens", filter=INHERITED, default=0),
        )
        .order_by("-completion")
    )
    return [
        RoleCost(
            row["role"],
            row["calls"],
            row["prompt"],
            row["cached"],
            row["completion"],
            row["seconds"],
            row["inherited"],
            row["inherited_completion"],
        )
        for row in rows
    ]


def phase_summary(run: Run) -> list[dict[str, Any]]:
    """Calls grouped by rollout, round and role, with counts, tokens and times: the bars of the round timeline."""
    rows = (
        run.steps.filter(kind="call")
        .values("rollout", "round", "role")
        .annotate(
            calls=Count("pk"),
            failed=Count("pk", filter=~Q(failure="")),
            inherited=Count("pk", filter=INHERITED),
            completion=Sum("completion_tokens"),
            seconds=Sum("duration_s"),
            mean_s=Avg("duration_s"),
            first_at=Min("recorded_at"),
            last_at=Max("recorded_at"),
        )
        .order_by("round", "rollout", "role")
    )
    return [dict(row) for row in rows]


def step_list(run: Run, *, role: str = "", round_: int | None = None, until: int | None = None) -> QuerySet[Step]:
    """Recorded calls in the order they were recorded; with `until`, those that ended before that event."""
    steps = steps_until(run, until)
    if role:
        steps = steps.filter(role=role)
    if round_ is not None:
        steps = steps.filter(round=round_)
    return steps.order_by("pk")


def step_get(run: Run, key: str) -> Step | None:
    """The recorded call under `key`, if it has ended."""
    return run.steps.filter(key=key).first()


def step_texts(step: Step) -> tuple[list[str], str, str]:
    """Prompt messages, text and reasoning text of a recorded call."""
    prompts = texts_get(step.prompt_shas)
    return [prompts.get(sha, "") for sha in step.prompt_shas], text_get(step.text_sha), text_get(step.reasoning_sha)


def open_calls(run: Run, limit: int = 400) -> list[dict[str, Any]]:
    """Running calls, oldest first: the bodies of their `call.began` events.

    The window of a run bounds how many calls are open, so the newest events of this kind suffice.
    """
    began = list(RunEvent.objects.filter(run=run, kind=Kind.CALL_BEGAN).order_by("-seq")[:limit])
    keys = [event.body["call"] for event in began]
    done = set(run.steps.filter(key__in=keys).values_list("key", flat=True))
    return [event.body for event in reversed(began) if event.body["call"] not in done]


def alias_speed(alias: str) -> float | None:
    """Tokens per second of an alias over its newest recorded calls, summed over parallel calls.

    Idle time does not count. None without recent calls.
    """
    newest = Step.objects.aggregate(pk=Max("pk"))["pk"] or 0
    calls = Step.objects.filter(pk__gt=newest - SPEED_LOOKS_BACK, alias=alias, kind="call", attempt__gt=0, duration_s__gt=0)
    rows = calls.order_by("-pk").values_list("recorded_at", "duration_s", "completion_tokens")[:SPEED_CALLS]
    spans = sorted((at.timestamp() - took, at.timestamp(), written) for at, took, written in rows)
    busy, until = 0.0, 0.0
    for begin, end, _ in spans:
        busy += max(0.0, end - max(begin, until))
        until = max(until, end)
    written = sum(tokens for _, _, tokens in spans)
    return written / busy if busy and written else None
