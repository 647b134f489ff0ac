"""The lemmas of compared runs in three lists: verdicts that disagree, the same in several runs, only in one run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Q

from apps.explorations.comparing.asking import Side
from apps.lemmas.models import Lemma, LemmaState
from apps.lemmas.network import human_words
from apps.lemmas.pairs.grouping import Decision, Group, How, Statement, groups_of
from apps.lemmas.pairs.models import LemmaPair
from apps.lemmas.words import confidence_words
from apps.reasoning.graph.statements import normalise_statement
from apps.runs.models import Run

#: Run and id of a lemma.
Key = tuple[int, str]
_HOW_WORDS = {
    How.DECIDED: "joined by people",
    How.EQUAL: "word for word",
    How.RENAMED: "up to names of variables",
    How.ALIKE: "alike",
}
_PEOPLE = {"accepted": LemmaState.VERIFIED.value, "rejected": LemmaState.REJECTED.value, "disputed": LemmaState.DOUBTFUL.value}


@dataclass(frozen=True)
class Entry:
    """A lemma of one run. `human`: the judgement of people. `first`: the statement of its row."""

    lemma: Lemma
    human: str
    first: str

    @property
    def says(self) -> str:
        """Its statement, "" if it is word for word that of its row."""
        is_first = normalise_statement(self.lemma.statement) == normalise_statement(self.first)
        return "" if is_first else self.lemma.statement

    @property
    def state(self) -> str:
        return f"{self.human} by people" if self.human else self.lemma.state_words

    @property
    def votes(self) -> str:
        return confidence_words(self.lemma) if self.lemma.confidence is not None else ""

    @property
    def verdict(self) -> str:
        """What counts: the judgement of people, else of the votes; "" without one."""
        return _PEOPLE.get(self.human) or ("" if self.lemma.judged == LemmaState.PROPOSED else self.lemma.judged)


@dataclass(frozen=True)
class Row:
    """Lemmas that say the same. `cells`: those of each run, in the order of the runs. `how`: why they are together."""

    statement: str
    how: str
    cells: list[list[Entry]]

    @property
    def runs(self) -> int:
        """In how many of the runs it is."""
        return sum(bool(cell) for cell in self.cells)

    @property
    def disagrees(self) -> bool:
        """Whether two verdicts of it differ. A lemma without a verdict disagrees with none."""
        return self.runs > 1 and len({entry.verdict for cell in self.cells for entry in cell if entry.verdict}) > 1


@dataclass(frozen=True)
class Common:
    """The lists of the page, and the decisions of people on lemmas of these runs, newest first."""

    disagree: list[Row] = field(default_factory=list)
    same: list[Row] = field(default_factory=list)
    single: list[Row] = field(default_factory=list)
    decisions: list[LemmaPair] = field(default_factory=list)

    @property
    def lemmas(self) -> int:
        """Number of different statements."""
        return len(self.disagree) + len(self.same) + len(self.single)


def common_of(sides: Sequence[Side]) -> Common:
    """The lists of some runs. Lemmas that were merged into another one or corrected are left out; the newest version counts."""
    runs = [side.run for side in sides]
    lemmas = {(row.run_id, row.lemma): row for row in current_lemmas(runs)}
    human = {(run.pk, name): words for run in runs for name, words in human_words(run).items()}
    decisions = decisions_on(runs)
    groups = groups_in(lemmas, runs[0], decisions)
    common = Common(decisions=decisions)
    for group in groups:
        row = _row(group, runs, lemmas, human)
        (common.single if row.runs == 1 else common.disagree if row.disagrees else common.same).append(row)
    return common


def current_lemmas(runs: Sequence[Run]) -> list[Lemma]:
    """The newest versions of the lemmas of some runs that are not merged into others, without their proofs, run by run."""
    rows = list(Lemma.objects.filter(run__in=runs, merged_into="").defer("steps").order_by("first_seq"))
    corrected = {(row.run_id, row.supersedes) for row in rows if row.supersedes}
    order = {run.pk: place for place, run in enumerate(runs)}
    kept = [row for row in rows if (row.run_id, row.lemma) not in corrected]
    return sorted(kept, key=lambda row: order[row.run_id])


def decisions_on(runs: Sequence[Run]) -> list[LemmaPair]:
    """The decisions of people on lemmas of these runs, newest first."""
    pairs = LemmaPair.objects.filter(Q(first_run__in=runs) & Q(second_run__in=runs))
    return list(pairs.select_related("by", "first_run", "second_run"))


def groups_in(lemmas: dict[Key, Lemma], run: Run, decisions: Iterable[LemmaPair]) -> list[Group[Key]]:
    """The groups of some lemmas on the problem of `run`."""
    return groups_of(
        [Statement(key, row.statement) for key, row in lemmas.items()],
        run.problem_version.statement,
        [
            Decision((pair.first_run_id, pair.first_lemma), (pair.second_run_id, pair.second_lemma), pair.is_same)
            for pair in decisions
        ],
    )


def _row(group: Group[Key], runs: Sequence[Run], lemmas: dict[Key, Lemma], human: dict[Key, str]) -> Row:
    first = lemmas[group.keys[0]].statement
    cells: dict[int, list[Entry]] = {run.pk: [] for run in runs}
    for key in group.keys:
        cells[key[0]].append(Entry(lemmas[key], human.get(key, ""), first))
    how = "" if group.how is None else _HOW_WORDS[group.how]
    if group.how == How.ALIKE and group.score is not None:
        how += f", {group.score:.0%}".replace("%", " %")
    return Row(first, how, list(cells.values()))
