"""How cells ended and what went wrong in their runs: conditions on cells, shared by the page of endings and that of cells."""

import re

from django.db.models import Case, CharField, Q, QuerySet, Value, When

from apps.experiments.models import SolvingCell, SolvingState
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.domain.verdicts import NO_FAULT
from apps.runs.models import RunEvent, Step

_FINISHED = Q(state=SolvingState.FINISHED)
_QUOTED = re.compile(r"“[^”]*”")
#: Characters of a clause, which is also a word in an address.
CLAUSE_LENGTH = 160

#: Endings of cells, of which each cell has one. "Accepted" is the method's own verdict.
ENDINGS: dict[str, tuple[str, Q]] = {
    "accepted": ("accepted", _FINISHED & ~Q(answer="") & Q(accepted=True)),
    "not-accepted": ("not accepted", _FINISHED & ~Q(answer="") & Q(accepted=False)),
    "not-judged": ("not judged", _FINISHED & ~Q(answer="") & Q(accepted=None)),
    "nothing": ("nothing handed in", _FINISHED & Q(answer="", run__isnull=False)),
    "imported": ("imported", _FINISHED & Q(answer="", run__isnull=True)),
    "failed": ("failed", Q(state=SolvingState.FAILED)),
    "cancelled": ("cancelled", Q(state=SolvingState.CANCELLED)),
    "open": ("not ended", Q(state__in=(SolvingState.WAITING, SolvingState.RUNNING))),
}
#: Finished cells whose run ended because its budget was spent.
BUDGET = _FINISHED & Q(run__outcome__ended_by="budget")

UNREAD = Q(kind=Kind.OUTPUT_UNREAD) & ~Q(body__part=True)
OBJECTING = Q(kind=Kind.CANDIDATE_JUDGED, body__passed=False) | (
    Q(kind=Kind.VOTE_CAST, body__unscored="") & ~Q(body__first_fault=NO_FAULT)
)
CUT_OFF = Q(kind="call", finish_reason="length")
CALL_FAILED = Q(kind="call") & ~Q(failure="")
#: Signs of trouble in a run, which cells of any ending may have: words, and the condition on events or on steps.
EVENT_SIGNS: dict[str, tuple[str, Q]] = {
    "unread": ("unread answers", UNREAD),
    "objections": ("verdicts that object", OBJECTING),
}
STEP_SIGNS: dict[str, tuple[str, Q]] = {"cut-off": ("answers cut off", CUT_OFF), "failed-calls": ("failed calls", CALL_FAILED)}


def with_ending(cells: QuerySet[SolvingCell]) -> QuerySet[SolvingCell]:
    """The cells with the key of their ending as `ending`."""
    whens = [When(which, then=Value(name)) for name, (_, which) in ENDINGS.items()]
    return cells.annotate(ending=Case(*whens, default=Value("open"), output_field=CharField()))


def words_of(ending: str) -> str:
    """An ending or a sign of trouble in words; "" for an unknown one."""
    words = {name: word for name, (word, _) in {**ENDINGS, **EVENT_SIGNS, **STEP_SIGNS}.items()}
    return (words | {"budget": "budget spent"}).get(ending, "")


def cells_ended(cells: QuerySet[SolvingCell], ending: str) -> QuerySet[SolvingCell]:
    """The cells with an ending, a spent budget or a sign of trouble; none for an unknown word."""
    if ending == "budget":
        return cells.filter(BUDGET)
    if ending in ENDINGS:
        return cells.filter(ENDINGS[ending][1])
    runs = cells.order_by().values("run")
    if ending in EVENT_SIGNS:
        return cells.filter(run__in=RunEvent.objects.filter(EVENT_SIGNS[ending][1], run__in=runs).values("run"))
    if ending in STEP_SIGNS:
        return cells.filter(run__in=Step.objects.filter(STEP_SIGNS[ending][1], run__in=runs).values("run"))
    return cells.none()


def clause_of(reason: str) -> str:
    """The first clause of a reason, without what it quotes from single answers, so that equal reasons are counted together."""
    first = re.split("[;:]", _QUOTED.sub("an answer", reason))[0].strip().rstrip(".")[:CLAUSE_LENGTH]
    return f"{first[:1].lower()}{first[1:]}"


def cells_failed_as(cells: QuerySet[SolvingCell], clause: str) -> QuerySet[SolvingCell]:
    """The failed cells whose trouble has this first clause."""
    failed = cells.filter(state=SolvingState.FAILED)
    troubles = set(failed.order_by().values_list("trouble", flat=True).distinct())
    return failed.filter(trouble__in=[trouble for trouble in troubles if clause_of(trouble) == clause])
