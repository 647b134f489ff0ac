"""What runs of an experiment show about the skills of their models: counts by model and role.

The truth of a solution is that of its final answer.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from apps.experiments.models import Experiment, SolvingCell, SolvingState
from apps.reasoning.answers.comparison import answer_compared, key_trouble
from apps.reasoning.answers.final import final_answer
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.domain.verdicts import NO_FAULT
from apps.reasoning.rehearsal.chances import log_odds
from apps.runs.models import RunEvent, Step
from apps.trials.rates import Share

#: Runs that are read; more of them change the rates little.
RUNS_AT_MOST = 2_000
#: A score from this share of its scale passes a solution, as in trials of models.
PASSES_FROM = 6 / 7
#: Events about a solution, with the field that names it.
_SUBJECT = {
    Kind.CANDIDATE_DRAFTED: "candidate",
    Kind.CANDIDATE_JUDGED: "candidate",
    Kind.CANDIDATE_SCORED: "candidate",
    Kind.PROOF_DRAFTED: "proof",
    Kind.VOTE_CAST: "subject",
}


@dataclass
class Count:
    """A number of successes of trials."""

    hits: int = 0
    of: int = 0

    def add(self, hit: bool) -> None:
        """Count one trial."""
        self.hits, self.of = self.hits + hit, self.of + 1

    @property
    def share(self) -> Share:
        return Share(self.hits, self.of)


@dataclass
class Lengths:
    """Tokens of answers: sums, and the logarithms of thinking and answer together."""

    calls: int = 0
    said: int = 0
    thought: int = 0
    logs: list[float] = field(default_factory=list)
    unread: int = 0

    def add(self, completion: int, reasoning: int) -> None:
        """Count one call."""
        self.calls, self.said, self.thought = self.calls + 1, self.said + completion - reasoning, self.thought + reasoning
        self.logs.append(math.log(max(1, completion)))


def pooled(all_: Iterable[Lengths]) -> Lengths:
    """All calls of several roles."""
    total = Lengths()
    for one in all_:
        total.calls, total.said, total.thought = total.calls + one.calls, total.said + one.said, total.thought + one.thought
        total.logs, total.unread = [*total.logs, *one.logs], total.unread + one.unread
    return total


Key = tuple[str, str]


@dataclass
class Observed:
    """Counts of an experiment by model, or by model and role. `fixed`: also the problem of each wrong solution.

    Only the first judgement of a solution counts, because many methods judge again what passed. `again`: whether a solution
    that was judged twice is right, and whether each judgement passed it.
    """

    runs: int = 0
    truths: int = 0
    solved: dict[str, dict[str, Count]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(Count)))
    fixed: dict[str, list[tuple[str, bool]]] = field(default_factory=lambda: defaultdict(list))
    kept: dict[str, Count] = field(default_factory=lambda: defaultdict(Count))
    rejected: dict[Key, Count] = field(default_factory=lambda: defaultdict(Count))
    passed: dict[Key, Count] = field(default_factory=lambda: defaultdict(Count))
    again: dict[str, list[tuple[bool, bool, bool]]] = field(default_factory=lambda: defaultdict(list))
    lengths: dict[Key, Lengths] = field(default_factory=lambda: defaultdict(Lengths))

    @property
    def models(self) -> list[str]:
        """All models that made a call."""
        return list(dict.fromkeys(alias for alias, _ in self.lengths))


@dataclass
class _Run:
    """One run so far: the truth of its solutions whose answer could be compared, and the judgements on them by player."""

    cell: SolvingCell
    truths: dict[str, bool] = field(default_factory=dict)
    judged: dict[tuple[str, Key], list[bool]] = field(default_factory=lambda: defaultdict(list))


def observed_in(experiment: Experiment) -> Observed:
    """Read finished cells, each run once, at most `RUNS_AT_MOST`. Call it in the background."""
    found = Observed()
    cells = experiment.solving_cells.filter(state=SolvingState.FINISHED, run__isnull=False).order_by("position")
    for cell in _each_run(cells.select_related("item__problem")):
        _read(found, cell)
    return found


def _each_run(cells: Any) -> Iterator[SolvingCell]:
    seen: set[int] = set()
    for cell in cells.iterator(chunk_size=500):
        if len(seen) < RUNS_AT_MOST and cell.run_id not in seen:
            seen.add(cell.run_id)
            yield cell


def _read(found: Observed, cell: SolvingCell) -> None:
    """Add what one run shows."""
    found.runs += 1
    players: dict[str, Key] = {}
    fields = ("key", "alias", "role", "completion_tokens", "reasoning_tokens")
    steps = Step.objects.filter(run=cell.run_id, kind="call", failure="").exclude(alias="")
    for key, alias, role, completion, reasoning in steps.values_list(*fields):
        players[key] = alias, role
        if not key.endswith(("/again", "/in_words")):
            found.lengths[alias, role].add(completion, reasoning)
    run = _Run(cell)
    events = RunEvent.objects.filter(run=cell.run_id, kind__in=(*_SUBJECT, Kind.OUTPUT_UNREAD)).order_by("seq")
    for kind, body in events.values_list("kind", "body"):
        player = players.get(body.get("call", ""))
        if player is not None:
            _add(found, run, player, kind, body)


def _add(found: Observed, run: _Run, player: Key, kind: str, body: dict[str, Any]) -> None:
    """Add one event of a call by `player`."""
    if kind == Kind.OUTPUT_UNREAD:
        found.lengths[player].unread += not body.get("part") and not body["call"].endswith(("/again", "/in_words"))
        return
    subject = body[_SUBJECT[Kind(kind)]]
    if kind in (Kind.CANDIDATE_DRAFTED, Kind.PROOF_DRAFTED):
        expected = run.cell.item.problem.answer
        is_right = answer_compared(body["text"], expected).is_equal
        if is_right is None or key_trouble(expected) or not final_answer(body["text"]).is_stated:
            return
        run.truths[subject] = is_right
        found.truths += 1
        if kind == Kind.CANDIDATE_DRAFTED:
            _add_solution(found, run.cell.item.name, player[0], [run.truths.get(name) for name in body["parents"]], is_right)
    elif subject in run.truths and (passed := _passed(kind, body)) is not None:
        _add_judgement(found, run, subject, player, passed)


def _add_judgement(found: Observed, run: _Run, subject: str, player: Key, passed: bool) -> None:
    is_right, judged = run.truths[subject], run.judged[subject, player]
    judged.append(passed)
    if len(judged) == 1:
        (found.passed if is_right else found.rejected)[player].add(passed == is_right)
    elif len(judged) == 2:
        found.again[player[0]].append((is_right, judged[0], judged[1]))


def _add_solution(found: Observed, problem: str, alias: str, parents: list[bool | None], is_right: bool) -> None:
    """A fresh solution counts for solving, one made from a single solution for fixing or keeping it."""
    if not parents:
        found.solved[alias][problem].add(is_right)
    elif parents == [True]:
        found.kept[alias].add(is_right)
    elif parents == [False]:
        found.fixed[alias].append((problem, is_right))


def _passed(kind: str, body: dict[str, Any]) -> bool | None:
    if kind == Kind.CANDIDATE_JUDGED:
        passed: bool | None = body["passed"]
        return passed
    if kind == Kind.VOTE_CAST:
        return None if body.get("unscored") else body.get("first_fault") == NO_FAULT and not body.get("wrong_lemma")
    score = body.get("score")
    return None if score is None else score >= PASSES_FROM * body["scale"]


def smoothed(count: Count, mean: float) -> float:
    """Log-odds of a rate, drawn to `mean` by the weight of one trial so that it is finite."""
    return log_odds((count.hits + mean) / (count.of + 1))
