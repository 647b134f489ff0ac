"""Papers × problems of a contest: how far each script is. A few queries, however many papers there are.

States of scripts whose points are settled or in dispute are results. For problems on which the reader's own mark can still
change (`blindness`), the table shows only how many marks there are.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse

from apps.contests.models import Contest, ContestProblem
from apps.marks.models import CLAIMED, Assignment, CaseState, MarkingCase, MarkingTask, Slot
from apps.submissions.selectors import versions_to_mark

#: The states in the order of the work, with their words and glyphs.
STATES = {
    "none": ("no text", "·"),
    "coming": ("to come", "…"),
    "waiting": ("to mark", "○"),
    "one": ("one mark", "◔"),
    "two": ("two marks", "◑"),
    "marked": ("marked", "●"),
    "differing": ("marks differ", "≠"),
    "settled": ("settled", "✓"),
    "released": ("released", "✉"),
    "appealed": ("appealed", "!"),
}
_OF_CASE = {
    CaseState.COMPARED: "two",
    CaseState.DISPUTED: "differing",
    CaseState.SETTLED: "settled",
    CaseState.RELEASED: "released",
    CaseState.APPEALED: "appealed",
}
_SEEN_BY_ALL = {"coming", "waiting", "one", "two"}
_RESULTS = {"settled", "released", "appealed"}


@dataclass(frozen=True)
class Cell:
    """A script in the table, with the label of its problem; `url` is empty without a text.

    `markers`: keys of those to whom it is assigned.
    """

    label: str
    state: str
    url: str
    markers: frozenset[int] = frozenset()

    @property
    def words(self) -> str:
        return STATES[self.state][0]

    @property
    def glyph(self) -> str:
        return STATES[self.state][1]


@dataclass(frozen=True)
class Wanted:
    """A filter of the table: a state of `STATES`, and the key of a marker to whom scripts are assigned."""

    state: str = ""
    marker: int = 0

    def has(self, cell: Cell) -> bool:
        return (not self.state or cell.state == self.state) and (not self.marker or self.marker in cell.markers)


@dataclass(frozen=True)
class Matrix:
    """The table: rows of a paper number with its cells in the order of the problems, and counts by problem and state."""

    problems: list[ContestProblem]
    rows: list[tuple[str, list[Cell]]]
    counts: dict[int, Counter[str]]
    papers: int

    @property
    def totals(self) -> list[tuple[str, str, int]]:
        """Name, words and number of scripts of each state that occurs, in the order of the work."""
        total = sum(self.counts.values(), Counter[str]())
        return [(name, words, total[name]) for name, (words, _) in STATES.items() if total[name]]


def matrix_of(contest: Contest, problems: Sequence[ContestProblem], shut: Collection[int], wanted: Wanted) -> Matrix:
    """The table of these problems. `shut`: keys of problems of which only the number of marks is shown."""
    texts: dict[str, dict[int, Cell]] = {}
    cases, disputes = _cases(problems), reverse("marks:coordination_list")
    labels = {problem.pk: problem.label for problem in problems}
    columns = ("submission__paper__number", "submission__problem", "pk", "public_id")
    versions = versions_to_mark(contest).filter(submission__problem__in=problems)
    for number, problem, version, public_id in versions.values_list(*columns):
        state, case, markers = cases.get(version, ("coming", "", frozenset()))
        if problem in shut and state not in _SEEN_BY_ALL:
            state = "marked"
        if state in _RESULTS:
            url = _url("marks:case_ledger", "case_id", case)
        else:
            url = disputes if state == "differing" else _url("submissions:script", "version_id", public_id)
        texts.setdefault(number, {})[problem] = Cell(labels[problem], state, url, markers)
    empty = {problem.pk: Cell(problem.label, "none", "") for problem in problems}
    rows = [(number, list((empty | texts[number]).values())) for number in sorted(texts)]
    counts = {one.pk: Counter(cells[at].state for _, cells in rows) for at, one in enumerate(problems)}
    shown = [(number, cells) for number, cells in rows if any(map(wanted.has, cells))]
    return Matrix(list(problems), shown, counts, len(rows))


def _cases(problems: Sequence[ContestProblem]) -> Mapping[int, tuple[str, object, frozenset[int]]]:
    """By version: state, public id of the case, and the markers to whom it is assigned."""
    done: Counter[int] = Counter()
    fresh: set[int] = set()
    again: set[int] = set()
    tasks = MarkingTask.objects.filter(case__problem__in=problems, slot__in=CLAIMED)
    for case, slot, at in tasks.values_list("case", "slot", "done_at"):
        if slot == Slot.THIRD:
            fresh.add(case)
        elif slot == Slot.AGAIN and at is None:
            again.add(case)
        done[case] += at is not None
    given: dict[int, set[int]] = {}
    for case, marker in Assignment.objects.filter(case__problem__in=problems).values_list("case", "marker"):
        given.setdefault(case, set()).add(marker)
    found = {}
    rows = MarkingCase.objects.filter(problem__in=problems).values_list("pk", "version", "public_id", "state")
    for key, version, public_id, state in rows:
        if state != CaseState.OPEN:
            word = _OF_CASE[CaseState(state)]
        elif key in again or not done[key]:
            word = "waiting"
        else:
            word = "differing" if key in fresh else "one" if done[key] == 1 else "two"
        found[version] = (word, public_id, frozenset(given.get(key, ())))
    return found


_PLACE = "00000000-0000-0000-0000-000000000000"
_URLS: dict[str, tuple[str, str]] = {}


def _url(name: str, argument: str, value: object) -> str:
    """An address of thousands that differ in their id; each name is resolved once."""
    if name not in _URLS:
        before, _, after = reverse(name, kwargs={argument: _PLACE}).partition(_PLACE)
        _URLS[name] = (before, after)
    return str(value).join(_URLS[name])
