"""Solutions of a run that compares candidates: by round, with their lineage, opinions on them, and the winner.

A fold over the run's events (apps/reasoning/domain/candidate_events.py); its result is not stored.
"""

from dataclasses import dataclass, field
from typing import Any

from django.utils.safestring import SafeString

from apps.explorations.conversations import Conversations, Memory, Talk, conversations
from apps.explorations.duels import Duel, order_of
from apps.explorations.opinions import Opinion, dropped, judged, scored
from apps.explorations.words import page_of, round_title
from apps.lemmas.final_answers import ShownAnswer, shown_answer
from apps.lemmas.formula_checks import CheckedFormula, FormulaCheck, checks_of
from apps.lemmas.selectors import solution_behind
from apps.reasoning.domain.kinds import Kind
from apps.reasoning.reading.proofs import WAY_WORDS
from apps.reasoning.scaffolds.candidates.judges import OrderReport
from apps.runs.models import Run

KINDS = (
    Kind.CANDIDATE_DRAFTED, Kind.CANDIDATE_SCORED, Kind.CANDIDATE_SCORE_DROPPED, Kind.CANDIDATE_JUDGED,
    Kind.POOL_KEPT, Kind.POOL_GROUPED,
    Kind.PAIR_JUDGED, Kind.PAIR_DECIDED, Kind.STATE_WRITTEN,
)  # fmt: skip
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
class Solution:
    """One candidate. `scores` are the counted scores, `scale` is the highest possible score."""

    id: str
    round: int
    made_as: str
    parents: list[str]
    text: str
    steps: list[str]
    call: str
    own_score: float | None = None
    read_words: str = ""
    children: list[str] = field(default_factory=list)
    opinions: list[Opinion] = field(default_factory=list)
    scores: dict[int, float] = field(default_factory=dict)
    scale: float = 1.0
    kept: bool = False
    passes: int = 0
    failures: int = 0
    talks: list[Talk] = field(default_factory=list)
    memory: Memory | None = None
    check: FormulaCheck = field(default_factory=lambda: FormulaCheck("", ""))
    answer: ShownAnswer | None = None

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
    def mean(self) -> float | None:
        return sum(self.scores.values()) / len(self.scores) if self.scores else None

    @property
    def how(self) -> str:
        """Origin of the solution in words; the page adds its parents."""
        if self.made_as == "solution" and self.call.startswith("state/"):
            turn = int(self.call.split("/")[1])
            return f"written from the state after turn {turn - 1}" if turn > 1 else "written from the empty state"
        return _MADE_AS.get(self.made_as, self.made_as)

    @property
    def shows_mean(self) -> bool:
        """Whether to show the mean score: not if the memory shows it as a judgement."""
        return self.mean is not None and self.memory is None


@dataclass
class State:
    """State after a turn of a reasoning cache; `before` is the state before the turn."""

    turn: int
    text: str
    call: str
    before: str


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
    groups: list[list[str]]
    chosen: int
    grouping_reason: str
    selected: str
    count: int
    agents: Conversations
    answers: list[str] = field(default_factory=list)

    @property
    def votes(self) -> list[tuple[str, list[str]]]:
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
        return order_of(self.duels)


class _Fold:
    """A fold over events of `KINDS`."""

    def __init__(self, scaffold: str) -> None:
        self.page = page_of(scaffold)
        self.solutions: dict[str, Solution] = {}
        self.duels: list[Duel] = []
        self.judged: dict[frozenset[str], list[dict[str, Any]]] = {}
        self.states: dict[int, State] = {}
        self.kept: dict[int, list[str]] = {}
        self.groups: list[list[str]] = []
        self.chosen = 0
        self.grouping_reason = ""
        self.answers: list[str] = []

    def take(self, kind: str, body: dict[str, Any]) -> None:
        """Add one event; ignore opinions on unknown solutions."""
        match kind:
            case Kind.CANDIDATE_DRAFTED:
                self._drafted(body)
            case Kind.CANDIDATE_SCORED | Kind.CANDIDATE_SCORE_DROPPED | Kind.CANDIDATE_JUDGED:
                if solution := self.solutions.get(body["candidate"]):
                    {Kind.CANDIDATE_SCORED: scored, Kind.CANDIDATE_JUDGED: judged}.get(Kind(kind), dropped)(solution, body)
                    if self.page.score_words and body.get("score") is not None:
                        solution.opinions[-1].verdict = self.page.score_words(body["index"], body["score"])
            case Kind.POOL_KEPT:
                self.kept[body["round"]] = list(body["kept"])
                for name in body["kept"]:
                    if name in self.solutions:
                        self.solutions[name].kept = True
            case Kind.POOL_GROUPED:
                self.groups, self.chosen = [list(group) for group in body["groups"]], body["chosen"]
                self.grouping_reason, self.answers = body.get("reason", ""), list(body.get("answers", ()))
            case Kind.PAIR_JUDGED:
                self.judged.setdefault(frozenset((body["first"], body["second"])), []).append(body)
            case Kind.PAIR_DECIDED:
                pair = (body["pair"][0], body["pair"][1])
                orders = self.judged.pop(frozenset(pair), [])
                self.duels.append(Duel(body["round"], pair, body["winner"], body["by"], orders))
            case Kind.STATE_WRITTEN:
                before = self.states[max(self.states)].text if self.states else ""
                self.states[body["turn"]] = State(body["turn"], body["text"], body["call"], before)

    def _drafted(self, body: dict[str, Any]) -> None:
        known = {name: body[name] for name in ("round", "made_as", "text", "call")}
        solution = Solution(
            id=body["candidate"],
            parents=list(body["parents"]),
            steps=list(body["steps"]),
            own_score=body.get("own_score"),
            read_words=WAY_WORDS.get(body.get("read_as", "tags"), ""),
            **known,
        )
        if self.page.continues and solution.parents:
            solution.made_as = "continuation"  # The turn got the state after its parent, not the parent.
        self.solutions[solution.id] = solution
        for parent in solution.parents:
            if parent in self.solutions:
                self.solutions[parent].children.append(solution.id)


def selected_solution(run: Run) -> str:
    """The selected candidate; "" before the selection."""
    if not run.events.filter(kind=Kind.PROOF_SELECTED).exists():
        return ""
    drafted = run.events.filter(kind=Kind.PROOF_DRAFTED).order_by("seq").last()
    return solution_behind(run, drafted.body["call"], drafted.body["text"]) if drafted else ""


def solutions(run: Run) -> Solutions:
    """Solutions of `run`, with a constant number of queries."""
    fold = _Fold(run.scaffold)
    for kind, body in run.events.filter(kind__in=KINDS).order_by("seq").values_list("kind", "body").iterator(chunk_size=2000):
        fold.take(kind, body)
    selected = selected_solution(run)
    agents = conversations(run)
    for name, solution in fold.solutions.items():
        solution.talks, solution.memory = agents.judging.get(name, []), agents.memories.get(name)
    numbers = sorted({solution.round for solution in fold.solutions.values()} | set(fold.states) | set(agents.solving))
    rounds = [_round(fold, number, round_title(run, number), selected, agents.solving.get(number, [])) for number in numbers]
    shown = [solution for one in rounds for solution in one.solutions]
    checks = checks_of(run, [solution.id for solution in shown])
    for solution in shown:
        solution.check, solution.answer = checks[solution.id], shown_answer(run, solution.text)
    return Solutions(
        rounds=rounds,
        duels=fold.duels,
        groups=fold.groups,
        chosen=fold.chosen,
        grouping_reason=fold.grouping_reason,
        selected=selected,
        count=len(fold.solutions),
        agents=agents,
        answers=fold.answers,
    )


def _round(fold: _Fold, number: int, title: str, selected: str, talks: list[Talk]) -> Round:
    def rank(solution: Solution) -> tuple[bool, bool, list[int]]:
        return solution.id != selected, not solution.kept, [int(part) for part in solution.id.removeprefix("c").split(".")]

    found = sorted((one for one in fold.solutions.values() if one.round == number), key=rank)
    kept = [fold.solutions[name] for name in fold.kept.get(number, ()) if name in fold.solutions]
    remembered = [one for one in kept if one.memory]
    hidden = max(0, len(found) - MOST_SHOWN)
    return Round(number, title, found[:MOST_SHOWN], hidden, fold.states.get(number), talks, remembered)
