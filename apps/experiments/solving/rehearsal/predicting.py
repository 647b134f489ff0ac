"""From a manifest and skills to a predicted table: the matrix is played by simulated agents."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from apps.experiments.refusals import CELLS_AT_MOST, ExperimentRefused
from apps.experiments.solving.manifest import Manifest
from apps.experiments.solving.tables import Row
from apps.problem_sets.models import ProblemSetItem
from apps.reasoning.answers.points import why_outside
from apps.reasoning.domain.errors import ReasoningError
from apps.reasoning.domain.values import Value
from apps.reasoning.planning import plan_params
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.rehearsal.matrix import Line, Matrix, PlayedCell, RehearsedProblem
from apps.reasoning.rehearsal.playing import rehearse
from apps.reasoning.rehearsal.skills import Skills

#: Expected calls of all cells; more would take more than half an hour.
CALLS_AT_MOST = 1_000_000
NOTHING = "nothing was handed in"
NOT_JUDGED = "the method did not judge its proof"
#: Kinds of scorers that are predicted. Simulated agents play the methods, but no graders and no people.
PREDICTED = ("answer", "accepted")
WRITTEN = "completion tokens"
#: What a unit of the manifest counts; a rehearsal knows no prices, so money is counted as tokens written.
COSTS = {
    WRITTEN: ("completion_tokens",),
    "tokens": ("prompt_tokens", "completion_tokens"),
    "calls": ("calls",),
    "seconds": ("seconds",),
}
Shares = tuple[tuple[float | None, ...], ...]


class PredictedRow(Value):
    """A row of the table. `right`, `accepted`: by problem and repeat 1, 0 or None; costs are means over played cells.

    `troubles`: cells that cannot run, by reason. `unread`: answers that could not be read, per call.
    """

    method: str
    team: str
    budget: int
    right: Shares
    accepted: Shares
    calls: float = 0.0
    prompt_tokens: float = 0.0
    completion_tokens: float = 0.0
    seconds: float = 0.0
    unread: float = 0.0
    troubles: dict[str, int] = {}

    @property
    def key(self) -> tuple[str, str, int]:
        return self.method, self.team, self.budget

    def cost(self, unit: str) -> float:
        """Mean cost of a cell in a unit of `COSTS`; 0 if no cell was played."""
        return sum(float(getattr(self, name)) for name in COSTS.get(unit, COSTS[WRITTEN]))

    def as_row(self, *, of_acceptance: bool = False) -> Row:
        """The row with its right answers, or its own verdicts, as scores."""
        shares = self.accepted if of_acceptance else self.right
        scores = np.array([[np.nan if one is None else one for one in row] for row in shares], np.float64)
        row = Row(self.method, self.team, self.budget, scores, calls=self.calls, seconds=self.seconds)
        row.tokens = self.prompt_tokens + self.completion_tokens
        cannot = sum(self.troubles.values())
        row.cells = Counter(finished=scores.size - cannot, failed=cannot)
        if left := scores.size - cannot - row.scored:
            row.unscored[NOT_JUDGED if of_acceptance else NOTHING] = left
        return row


class Prediction(Value):
    """A rehearsed table. Problems by name, in the order of the scores. `outside`: by problem, why no
    answer to it has a score by final answer.
    """

    problems: tuple[str, ...]
    rows: tuple[PredictedRow, ...]
    outside: dict[str, str] = {}

    def rows_by(self, kind: str) -> list[Row]:
        """The rows as a kind of `PREDICTED` scores them; by right solutions if the kind is ""."""
        rows = [one.as_row(of_acceptance=kind == "accepted") for one in self.rows]
        if kind == "answer":
            for row, (name, why) in product(rows, self.outside.items()):
                scores = row.scores[self.problems.index(name)]
                if left := int((~np.isnan(scores)).sum()):
                    row.unscored[why] += left
                scores[:] = np.nan
        return rows


def scorers_predicted(manifest: Manifest) -> dict[str, str]:
    """The kinds of the scorers that a rehearsal predicts, by name."""
    return {one.name: one.kind for one in manifest.scorers if one.kind in PREDICTED}


def unit_of(manifest: Manifest) -> str:
    """What ratios of costs count."""
    return manifest.counts if manifest.counts in COSTS else WRITTEN


def not_predicted(manifest: Manifest) -> str:
    """A sentence about the scorers that a rehearsal does not predict; "" if there are none."""
    others = [one.name for one in manifest.scorers if one.kind not in PREDICTED]
    if not others:
        return ""
    return (
        f"Not predicted: {', '.join(others)}. A rehearsal plays the methods, but no graders and no people. "
        "It has neither their points nor the cost of grading."
    )


def matrix_of(manifest: Manifest, items: Sequence[ProblemSetItem]) -> Matrix:
    """What is played. Raises `ExperimentRefused` if it is too large or a method is unknown."""
    teams = {team.name: team for team in manifest.teams}
    lines = [
        Line(
            name=f"{method.name}/{team}/{budget}",
            scaffold=method.scaffold,
            preset=method.preset,
            params=method.params,
            models=teams[team].roles,
            max_new_tokens=method.max_new_tokens,
            budget=manifest.budgets[budget].limits,
            prices=manifest.prices_for(budget),
        )
        for method, team, budget in product(manifest.played, teams, range(len(manifest.budgets)))
    ]
    problems = [
        RehearsedProblem(name=item.name, statement=item.problem.statement, has_answer=bool(item.problem.answer.strip()))
        for item in items
    ]
    cells = len(lines) * len(problems) * manifest.repeats
    if cells > CELLS_AT_MOST:
        raise ExperimentRefused(f"These are {cells:,} cells; an experiment has at most {CELLS_AT_MOST:,}.")
    calls = sum(_calls(line) for line in lines) * len(problems) * manifest.repeats
    if calls > CALLS_AT_MOST:
        raise ExperimentRefused(
            f"These are about {calls:,.0f} calls; a rehearsal has at most {CALLS_AT_MOST:,}. Rehearse fewer repeats or "
            "smaller presets."
        )
    return Matrix(lines=lines, problems=problems, repeats=manifest.repeats, seed=manifest.seed)


def _calls(line: Line) -> float:
    """Expected calls of a cell; 0 for a method that cannot run, which says so in its cells."""
    scaffold = SCAFFOLDS.get(line.scaffold)
    try:
        expected = scaffold.estimate(plan_params(scaffold, line.preset, line.params)).calls_expected if scaffold else 0
    except ReasoningError:
        return 0
    return min(expected, line.budget.calls or math.inf)


def predicted(
    manifest: Manifest,
    items: Sequence[ProblemSetItem],
    skills: Skills,
    *,
    processes: int = 2,
    progress: Callable[[int], None] = lambda _: None,
) -> Prediction:
    """Play the matrix. Raises `ExperimentRefused` and `SkillsWrong`."""
    matrix = matrix_of(manifest, items)
    cells = rehearse(matrix, skills, processes=processes, progress=progress)
    by_line: dict[int, list[PlayedCell]] = {number: [] for number in range(len(matrix.lines))}
    for cell in cells:
        by_line[cell.line].append(cell)
    keys = product((one.name for one in manifest.played), (one.name for one in manifest.teams), range(len(manifest.budgets)))
    rows = [_row(key, matrix, by_line[number]) for number, key in enumerate(keys)]
    return Prediction(
        problems=tuple(one.name for one in matrix.problems),
        rows=tuple(rows),
        outside={one.name: why for one in items if (why := why_outside(one.problem.answer))},
    )


def _row(key: tuple[str, str, int], matrix: Matrix, cells: Sequence[PlayedCell]) -> PredictedRow:
    size = (len(matrix.problems), matrix.repeats)
    right: list[list[float | None]] = [[None] * size[1] for _ in range(size[0])]
    accepted: list[list[float | None]] = [[None] * size[1] for _ in range(size[0])]
    played = [cell for cell in cells if not cell.trouble]
    for cell in played:
        right[cell.problem][cell.repeat] = None if cell.right is None else float(cell.right)
        if cell.right is not None and cell.accepted is not None:
            accepted[cell.problem][cell.repeat] = float(cell.accepted)

    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values) if values else 0.0

    calls = sum(cell.calls for cell in played)
    return PredictedRow(
        method=key[0],
        team=key[1],
        budget=key[2],
        right=tuple(map(tuple, right)),
        accepted=tuple(map(tuple, accepted)),
        calls=mean([cell.calls for cell in played]),
        prompt_tokens=mean([cell.prompt_tokens for cell in played]),
        completion_tokens=mean([cell.completion_tokens for cell in played]),
        seconds=mean([cell.seconds for cell in played]),
        unread=sum(cell.unread for cell in played) / calls if calls else 0.0,
        troubles=dict(Counter(cell.trouble for cell in cells if cell.trouble)),
    )
