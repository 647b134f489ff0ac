"""Self-Check: solve, improve once, then check and correct until five checks in a row find nothing.

Source: the pipeline of Huang and Yang, as QED-Nano App. B and MarsRL §2.1 describe it (reasoning notes §3).
"""

from collections.abc import Mapping

from pydantic import Field

from apps.reasoning.domain.generation import Place
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Value
from apps.reasoning.ports import Context
from apps.reasoning.scaffolds.candidates.concluding import NOTHING_READABLE, Selection, concluded
from apps.reasoning.scaffolds.candidates.costs import estimated
from apps.reasoning.scaffolds.candidates.desk import Desk
from apps.reasoning.scaffolds.candidates.streaks import Loop, Rules
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.page import Page
from apps.reasoning.scaffolds.scaffold import Preset, Role, Scaffold, reader


class Params(Value):
    """Defaults are those of the pipeline."""

    improve: bool = Field(default=True, title="Improve once", description="The first solution is improved before any check.")
    accept: int = Field(default=5, ge=1, le=20, title="Passes", description="So many checks in a row must find nothing.")
    give_up: int = Field(default=10, ge=1, le=50, title="Failures", description="So many failed checks in a row end it.")
    iterations: int = Field(default=30, ge=1, le=200, title="Iterations", description="At most so many checks.")
    structured_output: bool = Field(
        default=False,
        title="Structured output",
        description="Ask the verifier for JSON by schema, for engines that support it.",
    )

    @property
    def rules(self) -> Rules:
        return Rules(accept=self.accept, give_up=self.give_up, checks=self.iterations, corrections=self.iterations)


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Generate, improve, then the loop of `streaks.Loop`."""
    desk = Desk(problem, ctx, structured=params.structured_output)
    loop = Loop(desk, params.rules, verifier=lambda _: "verifier", corrector=lambda _: "corrector")
    return await concluded(desk, _search(desk, loop, params), loop.selection)


async def _search(desk: Desk, loop: Loop, params: Params) -> Selection:
    if await desk.steer("solve"):
        return loop.selection()
    first = await desk.draft(
        "solve",
        "c1.1",
        role="solver",
        prompt="shared/solver",
        made_as="solution",
        place=Place(round=1, subject="candidate c1.1"),
        values={"attempt": "1", "attempts": "1"},
    )
    if first is None:
        return Selection(candidate=None, reason=NOTHING_READABLE)
    if params.improve and not await desk.steer("improve"):
        improved = await desk.draft(
            "improve",
            "c1.2",
            role="improver",
            prompt="self_check/improver",
            made_as="improvement",
            place=Place(round=1, subject="candidate c1.1"),
            parents=(first,),
            values={"solution": desk.content(first.text)},
            may_stay=True,
        )
        first = improved or first
    return await loop.run(first)


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """Fewest: accepted at once, or a first solution that cannot be read. Likely: three corrections before the streak."""
    improve = int(params.improve)
    checks = min(params.iterations, params.accept + 3)
    return estimated(
        fewest={"solver": 1, "improver": 0, "verifier": 0, "corrector": 0},
        likely={"solver": 1, "improver": improve, "verifier": checks, "corrector": min(3, params.rules.most_corrections)},
        most={
            "solver": 1,
            "improver": improve,
            "verifier": params.iterations,
            "corrector": params.rules.most_corrections,
        },
        typical={
            "solver": (1_000, 30_000),
            "improver": (8_000, 25_000),
            "verifier": (8_000, 12_000),
            "corrector": (12_000, 25_000),
        },
        limits=max_new_tokens,
        assumptions="Likely: three corrections before the checks find nothing, with calls as long as those of a large model.",
    )


SCAFFOLD = Scaffold(
    name="self_check",
    title="Self-Check",
    description=(
        "One solution, improved once, then examined and corrected in turns. It is accepted when five examinations in a row "
        "find nothing, and given up after ten failures in a row."
    ),
    source="QED-Nano App. B; MarsRL §2.1",
    params=Params,
    read_params=reader(Params),
    presets={
        "quick": Preset("Quick", "Two passes in a row, at most six checks.", Params(accept=2, give_up=4, iterations=6)),
        "paper": Preset("Paper", "Five passes in a row, ten failures in a row, thirty checks.", Params()),
    },
    roles=(
        Role("solver", "Solver", "Writes the first solution.", 65_536),
        Role("improver", "Improver", "Reads the first solution again and improves it.", 65_536),
        Role("verifier", "Verifier", "Looks for critical errors and gaps and decides: pass or fail.", 32_768, 0.3),
        Role("corrector", "Corrector", "Settles what the verifier reports.", 65_536),
    ),
    solve=solve,
    estimate=estimate,
    page=Page(is_conversation=True),
)
