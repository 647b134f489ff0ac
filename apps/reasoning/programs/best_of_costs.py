"""The cost of best of n: calls of solver and judge, and one grading per solution."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.reasoning.graders.grader import Grader
from apps.reasoning.scaffolds.candidates.costs import estimated
from apps.reasoning.scaffolds.candidates.tournament import most_calls
from apps.reasoning.scaffolds.estimates import Estimate, RoleEstimate

#: Likely: two solutions share the most points, and one pair is judged.
LIKELY_PAIRS = 1
#: Names of pieces as if the first grading had made all that the others need.
_MADE: dict[str, dict[str, Any]] = {"clusters/": {}, "analysis/": {}, "rubric/": {}}


def estimated_with(
    program: Grader, material: Mapping[str, Any], solutions: int, roles: Sequence[str], limits: Mapping[str, int] | None
) -> Estimate:
    """Estimate the calls of all `roles`. Most: every grader answer is requested twice, and all solutions have equal points."""
    own = estimated(
        fewest={"solver": solutions, "judge": 0},
        likely={"solver": solutions, "judge": most_calls(min(solutions, 1 + LIKELY_PAIRS))},
        most={"solver": solutions, "judge": most_calls(solutions)},
        typical={"solver": (1_000, 30_000), "judge": (10_000, 8_000)},
        limits=limits,
        assumptions="Likely: two solutions share the most points, with calls as long as those of a large model.",
    )
    first: Estimate = program.estimate(program.read_params({**material, "script": ""}), limits)
    later: Estimate = program.estimate(program.read_params({**material, "script": "", "prepared": _MADE}), limits)
    graded = [_all(one, other, solutions) for one, other in zip(first.roles, later.roles, strict=True)]
    found = {one.role: one for one in (*own.roles, *graded)}
    all_roles = tuple(found.get(name) or _none(name) for name in roles)
    return Estimate(
        roles=all_roles,
        calls_min=own.calls_min,
        calls_expected=sum(one.calls_expected for one in all_roles),
        calls_max=own.calls_max + solutions * first.calls_max,
        tokens_expected=sum(one.tokens_expected for one in all_roles),
        tokens_max=own.tokens_max + solutions * first.tokens_max,
        assumptions=f"{own.assumptions} Of a grading: {first.assumptions}",
    )


def _all(first: RoleEstimate, later: RoleEstimate, solutions: int) -> RoleEstimate:
    """The first grading and the later ones. Fewest: none, because no solution is readable."""
    expected = ("calls_expected", "tokens_expected", "written_expected")
    sums = {name: getattr(first, name) + (solutions - 1) * getattr(later, name) for name in expected}
    return first.model_copy(update={**sums, "calls_min": 0, "calls_max": solutions * first.calls_max})


def _none(role: str) -> RoleEstimate:
    return RoleEstimate(role=role, calls_min=0, calls_expected=0, calls_max=0, tokens_expected=0, written_expected=0)
