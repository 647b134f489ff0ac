"""Solutions of a run that compares candidates: by round, with their lineage, opinions on them, and the winner.

They are read from the run's story, and not stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.utils.safestring import SafeString

from apps.explorations.candidates.opinions import Opinion, opinions_on
from apps.explorations.words import page_of, round_title
from apps.lemmas.final_answers import ShownAnswer, shown_answer
from apps.lemmas.formula_checks import CheckedFormula, FormulaCheck, checks_of
from apps.lemmas.selectors import solution_behind
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.reading.proofs import WAY_WORDS
from apps.reasoning.scaffolds.candidates.judges import Comparison, OrderReport, order_report
from apps.reasoning.story.candidates import Candidate, Candidates, Duel, State
from apps.reasoning.story.run_story import RunStory
from apps.reasoning.story.talks import Talk, Talks
from apps.runs.models import Run
from apps.runs.selectors import run_story

#: Most solutions of a round that a page shows; kept solutions come first.
MOST_SHOWN = 24
_MADE_AS = {
    "solution": "written from scratch",
    "improvement": "improved from",
    "refinement": "refined from",
    "correction": "corrected from",
    "aggregate": "made from",
    "continuation": "written from the state after",
}


@dataclass
class Solution(Candidate):
    """A candidate with what a page shows of it. `continues`: its turn got the state after its parent, not the parent."""

    continues: bool = False
    opinions: list[Opinion] = field(default_factory=list)
    talks: list[Talk] = field(default_factory=list)
    check: FormulaCheck = field(default_factory=lambda: FormulaCheck("", ""))
    answer: ShownAnswer | None = None

    @property
    def read_words(self) -> str:
        """How it was found in an answer that was not in the requested form."""
        return WAY_WORDS.get(self.read_as, "")

    @property
    def steps_checked(self) -> list[tuple[SafeString, list[CheckedFormula]]]:
        """Steps as HTML with marks on tested formulas, each with its refuted formulas."""
        places = [(f"step {number}", text) for number, text in enumerate(self.steps, 1)]
        return [(self.check.marked(where, text), self.check.refuted_at(where)) for where, text in places]

    @property
    def opinions_alone(self) -> list[Opinion]:
        """Opinions without a conversation; the others are shown with theirs."""
        led = {turn.call for talk in self.talks for turn in talk.turns}
        return [opinion for opinion in self.opinions if opinion.call not in led]

    @property
    def heard(self) -> list[tuple[Talk, Opinion | None]]:
        """The evaluators' conversations, each with the resulting opinion."""
        of_call = {opinion.call: opinion for opinion in self.opinions}
        return [(talk, next((of_call[turn.call] for turn in talk.turns if turn.call in of_call), None)) for talk in self.talks]

    @property
    def how(self) -> str:
        """Origin of the solution in words; the page adds its parents."""
        if self.made_as == "solution" and self.call.startswith("state/"):
            turn = int(self.call.split("/")[1])
            return f"written from the state after turn {turn - 1}" if turn > 1 else "written from the empty state"
        return _MADE_AS["continuation" if self.continues else self.made_as]

    @property
    def shows_mean(self) -> bool:
        """Whether to show the mean score: not if the memory shows it as a judgement."""
        return self.mean is not None and self.memory is None


@dataclass
class Round:
    """Solutions of one round; `hidden` counts further ones, `remembered` are those in the memory for the next round."""

    number: int
    title: str
    solutions: list[Solution]
    hidden: int = 0
    state: State | None = None
    talks: list[Talk] = field(default_factory=list)
    remembered: list[Solution] = field(default_factory=list)


@dataclass
class Solutions:
    """All solutions of a run. `groups` are those of the consolidation; `chosen` is the index of the most likely one.

    If final answers were counted, `answers` has the answer of each group.
    """

    rounds: list[Round]
    duels: list[Duel]
    groups: Sequence[Sequence[str]]
    chosen: int
    grouping_reason: str
    selected: str
    count: int
    agents: Talks
    answers: Sequence[str] = ()

    @property
    def votes(self) -> list[tuple[str, Sequence[str]]]:
        """Final answers, each with its solutions; empty if answers were not counted."""
        return list(zip(self.answers, self.groups, strict=True)) if self.answers else []

    @property
    def votes_cast(self) -> int:
        """Number of solutions with an answer."""
        return sum(len(group) for _, group in self.votes)

    @property
    def bracket(self) -> list[list[Duel]]:
        """Duels by round of the knock-out."""
        numbers = sorted({duel.round for duel in self.duels})
        return [[duel for duel in self.duels if duel.round == number] for number in numbers]

    @property
    def order(self) -> OrderReport:
        """Order effect of the judge of the knock-out."""
        return order_report(
            Comparison(f"{duel.round}/{'-'.join(duel.pair)}", "judge", one.first, one.second, one.better)
            for duel in self.duels
            for one in duel.orders
        )


def selected_solution(run: Run) -> str:
    """The selected candidate; "" before the selection."""
    if not run.events.filter(kind=Kind.PROOF_SELECTED).exists():
        return ""
    drafted = run.events.filter(kind=Kind.PROOF_DRAFTED).order_by("seq").last()
    return solution_behind(run, drafted.body["call"], drafted.body["text"]) if drafted else ""


def solutions(run: Run) -> Solutions:
    """Solutions of `run`, with a constant number of queries."""
    story = run_story(run, Candidates.KINDS | Talks.KINDS)
    candidates, selected = story.candidates, selected_solution(run)
    found = _solutions(run, story)
    solving = story.talks.solving
    numbers = sorted({one.round for one in found} | set(candidates.states) | set(solving))
    rounds = [
        _round(candidates, found, number, round_title(run, number), selected, solving.get(number, [])) for number in numbers
    ]
    shown = [solution for one in rounds for solution in one.solutions]
    checks = checks_of(run, [solution.id for solution in shown])
    for solution in shown:
        solution.check, solution.answer = checks[solution.id], shown_answer(run, solution.text)
    groups = candidates.groups
    return Solutions(
        rounds=rounds,
        duels=candidates.duels,
        groups=groups.groups if groups else (),
        chosen=groups.chosen if groups else 0,
        grouping_reason=groups.reason if groups else "",
        selected=selected,
        count=len(found),
        agents=story.talks,
        answers=groups.answers if groups else (),
    )


def _solutions(run: Run, story: RunStory) -> list[Solution]:
    page, judging = page_of(run.scaffold), story.talks.judging
    return [
        Solution(
            **vars(one),
            continues=page.continues and bool(one.parents),
            opinions=opinions_on(one, page),
            talks=judging.get(one.id, []),
        )
        for one in story.candidates.by_id.values()
    ]


def _round(
    candidates: Candidates, solutions: Sequence[Solution], number: int, title: str, selected: str, talks: list[Talk]
) -> Round:
    def rank(solution: Solution) -> tuple[bool, bool, list[int]]:
        return solution.id != selected, not solution.kept, [int(part) for part in solution.id.removeprefix("c").split(".")]

    found = sorted((one for one in solutions if one.round == number), key=rank)
    kept = next((pool.kept for _, pool in reversed(candidates.pools) if pool.round == number), ())
    by_id = {one.id: one for one in solutions}
    remembered = [by_id[name] for name in kept if name in by_id and by_id[name].memory]
    hidden = max(0, len(found) - MOST_SHOWN)
    return Round(number, title, found[:MOST_SHOWN], hidden, candidates.states.get(number), talks, remembered)
