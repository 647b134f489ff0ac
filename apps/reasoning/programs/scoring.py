"""A grading of one candidate by a whole grader, inside another run.

Its calls are calls of that run, under `grade/<candidate>`. Of its events only the score with its report is kept; the others
belong to runs that are gradings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from apps.reasoning.domain.control import Command
from apps.reasoning.domain.errors import BudgetExhausted, ParamsError
from apps.reasoning.domain.events import Event, OutputUnread
from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.grading_events import GradingPrepared, GradingReached
from apps.reasoning.domain.tools import ToolAnswer, ToolJob
from apps.reasoning.graders.grader import FINAL, Grader
from apps.reasoning.graders.grading import SEVEN, Grading
from apps.reasoning.graders.problems.within import Within
from apps.reasoning.marking.schemes.scheme import points_text, points_words
from apps.reasoning.ports import Ask, Context
from apps.reasoning.scaffolds.candidates.desk import Candidate, Desk


@dataclass(frozen=True)
class Scored:
    """`points` of `scale`, or `unscored`, the reason. `call` is the grader's call; the next candidate reuses `pieces`."""

    points: Decimal | None
    scale: Decimal
    unscored: str
    report: str
    call: str
    pieces: Mapping[str, Any] = field(default_factory=dict)


class _Inside(Within):
    """The context of the grader. It keeps the grading, its pieces and its calls."""

    def __init__(self, ctx: Context, candidate: Candidate) -> None:
        super().__init__(ctx, f"grade/{candidate.id}")
        self.place = {"round": candidate.round, "subject": f"candidate {candidate.id}"}
        self.calls: dict[str, str] = {}
        self.grading: Grading | None = None
        self.pieces: dict[str, Any] = {}
        self.exhausted: BudgetExhausted | None = None

    async def generate(self, key: str, ask: Ask) -> Final:
        """Generate in the candidate's round. Keep `BudgetExhausted`, which a grader would turn into an unscored grading."""
        self.calls[self._key(key)] = ask.role
        try:
            return await super().generate(key, replace(ask, place=ask.place.model_copy(update=self.place)))
        except BudgetExhausted as exhausted:
            self.exhausted = exhausted
            raise

    async def tool(self, key: str, *, job: ToolJob, content: str, place: Place) -> ToolAnswer:
        """Call a tool in the candidate's round."""
        return await super().tool(key, job=job, content=content, place=place.model_copy(update=self.place))

    def emit(self, key: str, event: Event) -> None:
        """Pass on only unreadable outputs; keep the grading and its pieces."""
        if isinstance(event, GradingReached) and event.name == FINAL:
            self.grading = Grading.model_validate(event.grading)
        elif isinstance(event, GradingPrepared):
            self.pieces[event.piece] = event.value
        elif isinstance(event, OutputUnread):
            super().emit(key, event)

    async def control(self, point: str, refuse: Any = None) -> Sequence[Command]:
        """Take no commands during a grading; the run takes them before and after all gradings."""
        return ()


async def scored_by(program: Grader, desk: Desk, candidate: Candidate, material: Mapping[str, Any]) -> Scored:
    """Grade the candidate with `program`. Raises `BudgetExhausted` if the budget ended the grading."""
    inside = _Inside(desk.ctx, candidate)
    structured = all(desk.ctx.keeps_to_schemas(role.name) for role in program.roles)
    given = {**material, "script": "\n\n".join(candidate.steps), "structured": structured}
    try:
        params = program.read_params(given)
    except ParamsError as error:  # A proof may be longer than any script.
        return Scored(None, SEVEN, str(error).rstrip("."), "", desk.calls[candidate.id])
    await program.solve(desk.problem, inside, params)
    if inside.exhausted is not None:
        raise inside.exhausted
    grading = inside.grading
    if grading is None:
        raise AssertionError(f"{program.name} ended without a grading")
    # The grader's last call by name, which does not depend on the order in which concurrent calls finish.
    judged = [key for key, role in inside.calls.items() if role == program.roles[-1].name]
    call = max(judged or inside.calls, default="")
    return Scored(grading.points, grading.scale, grading.unscored, report_of(grading), call, inside.pieces)


def report_of(grading: Grading) -> str:
    """The grader's report, for the page."""
    lines = [f"{one.name}: {points_words(one.points)}" for one in grading.passes if one.points is not None]
    lines += [f"{one.name}: not read, {one.unscored}" for one in grading.passes if one.points is None]
    lines += [f"{one.code}, {points_text(one.points)} of {points_text(one.most)}: {one.reason}" for one in grading.items]
    lines += [f"Step {one.step}, {one.fallacy}, {one.severity}: {one.words}" for one in grading.findings]
    return "\n\n".join([*lines, grading.feedback, grading.remarks]).strip()
