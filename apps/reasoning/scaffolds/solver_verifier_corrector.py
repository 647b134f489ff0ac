"""Solver–Verifier–Corrector: a conversation of three roles; the first pass has its own verifier and corrector.

Source: MarsRL §2 and §3 (reasoning notes §7).
"""

from collections.abc import Mapping

from pydantic import Field

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
    """Defaults of MarsRL at inference; its solver has no prompt for rigour (§2.1)."""

    accept: int = Field(
        default=4, ge=1, le=20, title="Passes", description="Consecutive passes that accept a solution, the first one included."
    )
    give_up: int = Field(default=10, ge=1, le=50, title="Failures", description="Stop after this many consecutive failures.")
    corrections: int = Field(default=10, ge=0, le=50, title="Corrections", description="Most rounds of correction.")
    rigour: bool = Field(
        default=False,
        title="Rigour prompt",
        description="Ask the solver to put rigour before the answer, as the older pipeline does; MarsRL does not (§2.1).",
    )
    structured_output: bool = Field(
        default=False,
        title="Structured output",
        description="Request JSON by schema from the verifiers, on engines that support it.",
    )
    verifier_marks: bool = marks_option()

    @property
    def rules(self) -> Rules:
        """Rules that allow `accept` checks of every candidate, readable or not."""
        checks = self.accept * (self.corrections + 1)
        return Rules(accept=self.accept, give_up=self.give_up, checks=checks, corrections=self.corrections)


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Solve, then run `streaks.Loop`; verifier_1 and corrector_1 read the solver's text, the others corrections (§3.1)."""
    desk = Desk(problem, ctx, structured=params.structured_output, formulas=JudgedFormulas(params.verifier_marks))
    loop = Loop(
        desk,
        params.rules,
        verifier=lambda candidate: "verifier_2" if candidate.parents else "verifier_1",
        corrector=lambda candidate: "corrector_2" if candidate.parents else "corrector_1",
    )
    return await concluded(desk, _search(desk, loop, params), loop.selection)


def hands_in(story: RunStory, params: Params) -> str:
    """The accepted solution, else the one most often judged correct; ties go to the newest."""
    return handed_in(story.candidates, params.accept)


async def _search(desk: Desk, loop: Loop, params: Params) -> Selection:
    if await desk.steer("solve"):
        return loop.selection()
    first = await solved(desk, prompt="shared/solver" if params.rigour else "shared/plain_solver")
    return await loop.run(first) if first else Selection(candidate=None, reason=NOTHING_READABLE)


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """Fewest: an unreadable first solution. Likely: three corrections, each after one failed check.

    If no correction is readable, the roles for the solver's text make all calls.
    """
    rules = params.rules
    corrections = min(3, rules.most_corrections)
    checks, most = corrections + params.accept, rules.most_corrections
    return estimated(
        fewest={"solver": 1, "verifier_1": 0, "corrector_1": 0, "verifier_2": 0, "corrector_2": 0},
        likely={
            "solver": 1,
            "verifier_1": 1 if corrections else checks,
            "corrector_1": min(1, corrections),
            "verifier_2": checks - 1 if corrections else 0,
            "corrector_2": max(0, corrections - 1),
        },
        most={
            "solver": 1,
            "verifier_1": 1 if most else rules.checks,
            "corrector_1": min(1, most),
            "verifier_2": rules.checks - 1 if most else 0,
            "corrector_2": max(0, most - 1),
        },
        most_of_one={"verifier_1": rules.checks, "corrector_1": most},
        typical={
            "solver": (1_000, 30_000),
            "verifier_1": (8_000, 12_000),
            "corrector_1": (12_000, 25_000),
            "verifier_2": (8_000, 12_000),
            "corrector_2": (12_000, 25_000),
        },
        limits=max_new_tokens,
        assumptions="Likely: three corrections before the accepting passes, with calls as long as those of a large model.",
    )


SCAFFOLD = Scaffold(
    name="solver_verifier_corrector",
    title="Solver–Verifier–Corrector",
    description=(
        "A solver writes, a verifier reports errors and a corrector fixes them, in turns. A solution is accepted after four "
        "consecutive passes; otherwise the result is the solution most often judged correct."
    ),
    source="MarsRL (arXiv 2511.11373) §2–3",
    params=Params,
    presets={
        "quick": Preset("Quick", "Two passes, two corrections.", Params(accept=2, give_up=4, corrections=2)),
        "paper": Preset("Paper", "Four passes, ten consecutive failures, ten corrections.", Params()),
    },
    roles=(
        Role("solver", "Solver", "Writes the first solution.", 65_536, 0.6),
        Role("verifier_1", "Verifier of the solver", "Checks the solver's text.", 65_536, 0.6),
        Role("corrector_1", "Corrector of the solver", "Fixes the faults reported in the solver's text.", 65_536, 0.6),
        Role("verifier_2", "Verifier of corrections", "Checks the correctors' texts.", 65_536, 0.6),
        Role("corrector_2", "Corrector of corrections", "Fixes the faults reported in the correctors' texts.", 65_536, 0.6),
    ),
    solve=solve,
    estimate=estimate,
    hands_in=hands_in,
    measured_with={"corrections": 20},
    page=Page(is_conversation=True),
)
