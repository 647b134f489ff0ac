"""An attempt at a problem by a whole scaffold, inside another run.

Its calls are calls of that run, under a prefix and by roles of their own. What it tells of its search stays unsaid, as ids of
lemmas and solutions would meet those of other attempts; nobody steers it; of what it ends with the text counts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.reasoning.domain.control import Command
from apps.reasoning.domain.errors import CallFailed
from apps.reasoning.domain.events import Event, OutputUnread, ProofDrafted
from apps.reasoning.domain.generation import Final, Message, Place
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.graders.within import Within
from apps.reasoning.ports import BudgetKind, Context
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.registry import UNGRADED
from apps.reasoning.scaffolds.scaffold import Role, Scaffold

PREFIX = "attempt_"
_BARE = ProblemText(id="", version=1, title="", statement="")
#: Those that need no grader and no tools, which an attempt has none of, and that can attempt every problem.
ATTEMPTING: dict[str, Scaffold] = {
    name: one
    for name, one in UNGRADED.items()
    if not one.uses_tools and not one.cannot_run(_BARE, one.presets[one.first_preset].params)
}


@dataclass(frozen=True)
class Attempted:
    """What came of it: the text ("" where there is none) and why there is none. `is_over`: the budget ended it."""

    text: str
    reason: str = ""
    is_over: bool = False


class _Inside(Within):
    """The context of the scaffold. `proofs` are the versions that it wrote, by their ids; `failure` is of a call."""

    def __init__(self, ctx: Context, prefix: str) -> None:
        super().__init__(ctx, prefix)
        self.proofs: dict[str, ProofDrafted] = {}
        self.failure = ""

    async def generate(self, key: str, *, role: str, messages: Sequence[Message], place: Place, **drawn: Any) -> Final:
        """As the port has it; why a call failed is kept."""
        try:
            return await super().generate(key, role=role, messages=messages, place=place, **drawn)
        except CallFailed as failure:
            self.failure = self.failure or f"the call failed: {failure.reason}"
            raise

    def keep_back(self, amount: Callable[[BudgetKind, float], float] | None) -> None:
        """Nothing is kept back: the budget is that of all attempts."""

    def emit(self, key: str, event: Event) -> None:
        """Only what could not be read is told; proofs are kept."""
        if isinstance(event, ProofDrafted):
            self.proofs[event.proof] = event
        elif isinstance(event, OutputUnread):
            super().emit(key, event)

    async def control(self, point: str, refuse: Callable[[Command], str] | None = None) -> Sequence[Command]:
        """Nobody steers an attempt; the run can be paused between groups of them."""
        return ()

    def nonce(self, key: str) -> str:
        """Each attempt has its own."""
        return super().nonce(self._key(key))

    def _role(self, role: str) -> str:
        """A role of the attempt."""
        return PREFIX + role


async def attempted(problem: ProblemText, ctx: Context, prefix: str, scaffold: str, params: Mapping[str, Any]) -> Attempted:
    """Let the scaffold work on the problem to its end."""
    program = ATTEMPTING[scaffold]
    inside = _Inside(ctx, prefix)
    outcome = await program.solve(problem, inside, program.read_params(params))
    proof = inside.proofs.get(outcome.proof)
    if proof is None:
        return Attempted("", inside.failure or outcome.reason.rstrip("."), outcome.ended_by == "budget")
    return Attempted("\n\n".join(proof.steps) or proof.text)


def attempting_roles(scaffold: str, preset: str = "") -> tuple[Role, ...]:
    """The roles of the scaffold as the run has them, with the temperatures of a preset where one is named."""
    program = ATTEMPTING[scaffold]
    warmth = program.presets[preset].temperatures if preset else {}
    return tuple(
        replace(role, name=PREFIX + role.name, temperature=warmth.get(role.name, role.temperature)) for role in program.roles
    )


def attempting_estimate(scaffold: str, params: Mapping[str, Any], attempts: int, limits: Mapping[str, int] | None) -> Estimate:
    """Of so many attempts."""
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
