"""Self-Check: solve, improve once, then check and correct until five consecutive checks find no fault.

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
from apps.reasoning.scaffolds.candidates.judged_formulas import JudgedFormulas
from apps.reasoning.scaffolds.candidates.solving import solved
from apps.reasoning.scaffolds.candidates.streaks import Loop, Rules, handed_in
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.page import Page
from apps.reasoning.scaffolds.running.checking_first import marks_option
from apps.reasoning.scaffolds.scaffold import Preset, Role, Scaffold
from apps.reasoning.story.run_story import RunStory


class Params(Value):
    """Defaults of the pipeline."""

    improve: bool = Field(default=True, title="Improve once", description="Improve the first solution before any check.")
    accept: int = Field(
        default=5, ge=1, le=20, title="Passes", description="Consecutive checks without a fault that accept a solution."
    )
    give_up: int = Field(default=10, ge=1, le=50, title="Failures", description="Stop after this many consecutive failures.")
    iterations: int = Field(default=30, ge=1, le=200, title="Iterations", description="Most checks.")
    structured_output: bool = Field(
        default=False,
        title="Structured output",
        description="Request JSON by schema from the verifier, on engines that support it.",
    )
    verifier_marks: bool = marks_option()

    @property
    def rules(self) -> Rules:
        return Rules(accept=self.accept, give_up=self.give_up, checks=self.iterations, corrections=self.iterations)


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Solve, improve, then run `streaks.Loop`."""
    desk = Desk(problem, ctx, structured=params.structured_output, formulas=JudgedFormulas(params.verifier_marks))
    loop = Loop(desk, params.rules, verifier=lambda _: "verifier", corrector=lambda _: "corrector")
    return await concluded(desk, _search(desk, loop, params), loop.selection)


def hands_in(story: RunStory, params: Params) -> str:
    """The accepted solution, else the one most often judged correct; ties go to the newest."""
    return handed_in(story.candidates, params.accept)


async def _search(desk: Desk, loop: Loop, params: Params) -> Selection:
    if await desk.steer("solve"):
        return loop.selection()
    first = await solved(desk)
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
    """Fewest: an unreadable first solution. Likely: three corrections before the accepting streak."""
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
        assumptions="Likely: three corrections before all checks pass, with calls as long as those of a large model.",
    )


SCAFFOLD = Scaffold(
    name="self_check",
    title="Self-Check",
    description=(
        "One solution, improved once, then checked and corrected in turns. It is accepted after five consecutive checks "
        "without a fault, and given up after ten consecutive failures."
    ),
    source="QED-Nano App. B; MarsRL §2.1",
    params=Params,
    presets={
        "quick": Preset("Quick", "Two consecutive passes, at most six checks.", Params(accept=2, give_up=4, iterations=6)),
        "paper": Preset("Paper", "Five consecutive passes, ten consecutive failures, thirty checks.", Params()),
    },
    roles=(
        Role("solver", "Solver", "Writes the first solution.", 65_536),
        Role("improver", "Improver", "Improves the first solution.", 65_536),
        Role("verifier", "Verifier", "Looks for critical errors and gaps and decides: pass or fail.", 32_768, 0.3),
        Role("corrector", "Corrector", "Fixes the faults that the verifier reports.", 65_536),
    ),
    solve=solve,
    estimate=estimate,
    hands_in=hands_in,
    page=Page(is_conversation=True),
)
