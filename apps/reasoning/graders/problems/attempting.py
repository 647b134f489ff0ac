"""An attempt at a problem by a whole scaffold, inside another run.

Its calls are calls of that run, with a key prefix and separate roles. Its own events are dropped, because ids of lemmas and
solutions would collide between attempts. It takes no commands, and only the text of its result counts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.reasoning.domain.control import Command
from apps.reasoning.domain.errors import CallFailed
from apps.reasoning.domain.events import Event, OutputUnread, ProofDrafted
from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.graders.problems.within import Within
from apps.reasoning.ports import Ask, BudgetKind, Context
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.registry import UNGRADED
from apps.reasoning.scaffolds.scaffold import Role, Scaffold

PREFIX = "attempt_"
_BARE = ProblemText(id="", version=1, title="", statement="")
#: Scaffolds that need neither grader nor tools and can run on every problem.
ATTEMPTING: dict[str, Scaffold] = {
    name: one
    for name, one in UNGRADED.items()
    if not one.uses_tools and not one.cannot_run(_BARE, one.presets[one.first_preset].params)
}


@dataclass(frozen=True)
class Attempted:
    """The result of an attempt: its text, or "" and the reason. `is_over`: the budget ended it."""

    text: str
    reason: str = ""
    is_over: bool = False


class _Inside(Within):
    """The context of the scaffold. `proofs` are its versions by id; `failure` is the first failure of a call."""

    def __init__(self, ctx: Context, prefix: str) -> None:
        super().__init__(ctx, prefix)
        self.proofs: dict[str, ProofDrafted] = {}
        self.failure = ""

    async def generate(self, key: str, ask: Ask) -> Final:
        """Implement the port, and keep the reason of a failed call."""
        try:
            return await super().generate(key, ask)
        except CallFailed as failure:
            self.failure = self.failure or f"the call failed: {failure.reason}"
            raise

    def keep_back(self, amount: Callable[[BudgetKind, float], float] | None) -> None:
        """Ignore reserves: the budget is shared by all attempts."""

    def emit(self, key: str, event: Event) -> None:
        """Pass on only unreadable outputs, and keep proofs."""
        if isinstance(event, ProofDrafted):
            self.proofs[event.proof] = event
        elif isinstance(event, OutputUnread):
            super().emit(key, event)

    async def control(self, point: str, refuse: Callable[[Command], str | None] | None = None) -> Sequence[Command]:
        """Take no commands; the run can be paused between groups of attempts."""
        return ()

    def nonce(self, key: str) -> str:
        """The nonce of this attempt."""
        return super().nonce(self._key(key))

    def _role(self, role: str) -> str:
        """The run's name for a role of the attempt."""
        return PREFIX + role


async def attempted(problem: ProblemText, ctx: Context, prefix: str, scaffold: str, params: Mapping[str, Any]) -> Attempted:
    """Run the scaffold on the problem."""
    program = ATTEMPTING[scaffold]
    inside = _Inside(ctx, prefix)
    outcome = await program.solve(problem, inside, program.read_params(params))
    proof = inside.proofs.get(outcome.proof)
    if proof is None:
        return Attempted("", inside.failure or outcome.reason.rstrip("."), outcome.ended_by == "budget")
    return Attempted("\n\n".join(proof.steps) or proof.text)


def attempting_roles(scaffold: str, preset: str = "") -> tuple[Role, ...]:
    """The run's roles for the scaffold, with the temperatures of `preset` if given."""
    program = ATTEMPTING[scaffold]
    warmth = program.presets[preset].temperatures if preset else {}
    return tuple(
        replace(role, name=PREFIX + role.name, temperature=warmth.get(role.name, role.temperature)) for role in program.roles
    )


def attempting_estimate(scaffold: str, params: Mapping[str, Any], attempts: int, limits: Mapping[str, int] | None) -> Estimate:
    """The estimate for a number of attempts."""
    program = ATTEMPTING[scaffold]
    own = {role.name: limits[PREFIX + role.name] for role in program.roles if PREFIX + role.name in limits} if limits else None
    one: Estimate = program.estimate(program.read_params(params), own)
    numbers = ("calls_min", "calls_expected", "calls_max", "tokens_expected", "written_expected")
    roles = tuple(
        role.model_copy(update={"role": PREFIX + role.role, **{name: attempts * getattr(role, name) for name in numbers}})
        for role in one.roles
    )
    totals = ("calls_min", "calls_expected", "calls_max", "tokens_expected", "tokens_max")
    return one.model_copy(update={"roles": roles, **{name: attempts * getattr(one, name) for name in totals}})
