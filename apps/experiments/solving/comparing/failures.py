"""By row of the table: endings of cells, signs of trouble in their calls, and what verifiers objected most often."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.urls import reverse
from django.utils.http import urlencode

from apps.accounts.models import User
from apps.experiments.models import Experiment, SolvingCell, SolvingState
from apps.experiments.solving.comparing.endings import (
    BUDGET,
    ENDINGS,
    EVENT_SIGNS,
    OBJECTING,
    STEP_SIGNS,
    clause_of,
    with_ending,
    words_of,
)
from apps.reasoning.domain.event_base import Kind
from apps.runs.access import run_visible_to
from apps.runs.models import RunEvent, Step

#: Newest verdicts whose objections are read.
VERDICTS_READ = 2_000
#: First words of an objection that make it the same as another, and the most that an open formula adds.
WORDS, WORDS_AT_MOST = 8, 16
OFTEN = 5
SEVERITIES = ("critical", "gap", "note")
Key = tuple[str, str, int]
_KEY = ("method", "team", "budget")
_OF_CELLS = tuple(f"run__solving_cells__{name}" for name in _KEY)


@dataclass(frozen=True)
class Number:
    """A count with its name and the address of its cells."""

    label: str
    count: int
    url: str


@dataclass
class Failures:
    """One row. `reasons`: of failed cells; `severities` and `objections` count those in the verdicts that were read."""

    key: Key
    cells: int = 0
    calls: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    severities: Counter[str] = field(default_factory=Counter)
    objections: Counter[str] = field(default_factory=Counter)
    url: str = ""

    def _number(self, ending: str) -> Number:
        return Number(words_of(ending), self.counts[ending], self.url_of(ending=ending))

    def url_of(self, **more: str) -> str:
        """The address of cells of this row, narrowed further."""
        return f"{self.url}?{urlencode(dict(zip(_KEY, map(str, self.key), strict=True)) | more)}"

    @property
    def endings(self) -> list[Number]:
        return [self._number(name) for name in (*ENDINGS, "budget")]

    @property
    def signs(self) -> list[Number]:
        return [self._number(name) for name in (*STEP_SIGNS, *EVENT_SIGNS)]

    @property
    def faults(self) -> list[Number]:
        url = self.url_of(ending="objections")
        return [Number(name, self.severities[name], url) for name in SEVERITIES if self.severities[name]]

    @property
    def why_failed(self) -> list[Number]:
        return [Number(clause, count, self.url_of(reason=clause)) for clause, count in self.reasons.most_common()]

    @property
    def often(self) -> list[tuple[str, int]]:
        return self.objections.most_common(OFTEN)


def failures_of(user: User, experiment: Experiment, keys: Sequence[Key], cells: QuerySet[SolvingCell]) -> list[Failures]:
    """The rows `keys`, counted over `cells`, which `user` may see. Six queries at most, however many cells there are."""
    url = reverse("experiments:cells", args=[experiment.public_id])
    rows = {key: Failures(key, url=url) for key in keys}
    cells = cells.order_by()
    _count_endings(rows, cells)
    failed = cells.filter(state=SolvingState.FAILED).values_list(*_KEY, "trouble").annotate(count=Count("pk"))
    for method, team, budget, trouble, count in failed:
        rows[method, team, budget].reasons[clause_of(trouble)] += count
    events = RunEvent.objects.order_by().filter(run__solving_cells__in=cells)
    asked = {Kind.OUTPUT_UNREAD, Kind.CANDIDATE_JUDGED, Kind.VOTE_CAST}
    _count_signs(rows, events.filter(kind__in=asked), EVENT_SIGNS)
    _count_signs(rows, Step.objects.order_by().filter(run__solving_cells__in=cells), STEP_SIGNS)
    _read_objections(rows, events.filter(OBJECTING, run__in=run_visible_to(user)))
    return list(rows.values())


def _count_endings(rows: Mapping[Key, Failures], cells: QuerySet[SolvingCell]) -> None:
    found = with_ending(cells).values_list(*_KEY, "ending")
    for method, team, budget, ending, count, calls, spent in found.annotate(
        count=Count("pk"), made=Sum("calls"), spent=Count("pk", filter=BUDGET)
    ):
        row = rows[method, team, budget]
        row.cells += count
        row.calls += calls
        row.counts.update({ending: count, "budget": spent})


def _count_signs(rows: Mapping[Key, Failures], found: QuerySet[Any], signs: Mapping[str, tuple[str, Q]]) -> None:
    counts = {f"n{number}": Count("pk", filter=which) for number, (_, which) in enumerate(signs.values())}
    for method, team, budget, *values in found.values_list(*_OF_CELLS).annotate(**counts):
        rows[method, team, budget].counts.update(dict(zip(signs, values, strict=True)))


def _read_objections(rows: Mapping[Key, Failures], verdicts: QuerySet[RunEvent]) -> None:
    """Count severities and the first words of the objections in the newest verdicts."""
    names: dict[str, str] = {}
    for method, team, budget, body in verdicts.order_by("-pk").values_list(*_OF_CELLS, "body")[:VERDICTS_READ]:
        row = rows[method, team, budget]
        for severity, comment in objections_in(body):
            row.severities[severity] += 1
            if words := first_words(comment):
                row.objections[names.setdefault(words.casefold(), words)] += 1


def objections_in(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Severity and words of each objection of a verdict; its summary if it names none."""
    found = [(issue.get("severity") or "", issue.get("comment") or "") for issue in body.get("issues") or ()]
    unsound = (check for check in body.get("checks") or () if not check.get("sound", True))
    found += [(check.get("severity") or "", check.get("comment") or "") for check in unsound]
    return found or [("", body.get("summary") or "")]


def first_words(comment: str) -> str:
    """The first words of an objection; more if they would end inside a formula."""
    words = comment.split()
    for count in range(min(WORDS, len(words)), min(WORDS_AT_MOST, len(words)) + 1):
        text = " ".join(words[:count])
        if text.count("$") % 2 == 0:
            return text if count == len(words) else f"{text} …"
    return " ".join(words[:WORDS]).replace("$", "")
