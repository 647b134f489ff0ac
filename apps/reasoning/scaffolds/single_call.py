"""Single call (pass@1): the solver writes one solution. The baseline of every table.

Source: the single answers that other scaffolds are compared with (Intern-S1-MO Table 1; QED-Nano Table 2; MarsRL Table 1).
"""

from collections.abc import Mapping

from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Value
from apps.reasoning.ports import Context
from apps.reasoning.scaffolds.candidates.concluding import NOTHING_READABLE, Selection, concluded
from apps.reasoning.scaffolds.candidates.costs import estimated
from apps.reasoning.scaffolds.candidates.desk import Desk
from apps.reasoning.scaffolds.candidates.solving import solved
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.scaffold import Preset, Role, Scaffold
from apps.reasoning.story.run_story import RunStory

#: Id of the only candidate.
ONLY = "c1.1"


class Params(Value):
    """No parameters: the role decides the model, its temperature and its limit."""


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Write one solution with one call."""
    desk = Desk(problem, ctx)
    return await concluded(desk, _search(desk), lambda: _selection(desk))


async def _search(desk: Desk) -> Selection:
    if not await desk.steer("solve"):
        await solved(desk)
    return _selection(desk)


def hands_in(story: RunStory, params: Params) -> str:
    """The only solution."""
    return ONLY if ONLY in story.candidates.by_id else ""


def _selection(desk: Desk) -> Selection:
    written = desk.candidates.get(ONLY)
    reason = "The solution of the only call. It was not judged." if written else NOTHING_READABLE
    return Selection(candidate=written, reason=reason)


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """One call."""
    calls = {"solver": 1}
    return estimated(
        fewest=calls,
        likely=calls,
        most=calls,
        typical={"solver": (1_000, 30_000)},
        limits=max_new_tokens,
        assumptions="One call, as long as that of a large reasoning model.",
    )


SCAFFOLD = Scaffold(
    name="single_call",
    title="Single call (pass@1)",
    description=(
        "One call writes one solution, which is not judged. The baseline for all other scaffolds: "
        "the share of correct solutions over many such runs is pass@1."
    ),
    source="Intern-S1-MO Table 1; QED-Nano Table 2; MarsRL §4.1",
    params=Params,
    presets={
        "quick": Preset("Quick", "One call at temperature 0.8, as in the other scaffolds.", Params()),
        "paper": Preset(
            "Paper", "One call at temperature 0.6, as in MarsRL's evaluation.", Params(), temperatures={"solver": 0.6}
        ),
    },
    roles=(Role("solver", "Solver", "Writes the solution.", 65_536, 0.8),),
    solve=solve,
    estimate=estimate,
    hands_in=hands_in,
)
