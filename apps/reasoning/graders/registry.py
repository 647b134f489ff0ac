"""The tables of graders and of programs about problems."""

from collections.abc import Mapping
from dataclasses import replace

from apps.reasoning.graders import (
    deepseek_verifier,
    ensemble,
    jury,
    points8,
    single_turn,
    whole_points,
    with_references,
    with_scheme,
)
from apps.reasoning.graders.grader import Grader
from apps.reasoning.graders.judging.rewriting import with_rewriting
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.pieces import preparing, scheme_writing
from apps.reasoning.graders.problems import difficulty, quality
from apps.reasoning.graders.problems.preparer import Preparer
from apps.reasoning.scaffolds.estimates import Estimate


def _counting_rewriting(grader: Grader) -> Grader:
    """The grader with an estimate that includes the neutral rewriting, if requested."""
    role = next(role.name for role in grader.roles if role.name in ("grader", jury.JUDGES[0], deepseek_verifier.JUDGE))

    def estimate(params: Material, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
        found: Estimate = grader.estimate(params, max_new_tokens)
        return with_rewriting(found, role) if params.neutral else found

    return replace(grader, estimate=estimate)


GRADERS: dict[str, Grader] = {
    grader.name: _counting_rewriting(grader)
    for grader in (
        single_turn.WORKFLOW,
        *with_references.WORKFLOWS,
        with_scheme.WORKFLOW,
        *whole_points.WORKFLOWS,
        deepseek_verifier.WORKFLOW,
        points8.WORKFLOW,
        ensemble.WORKFLOW,
        jury.WORKFLOW,
    )
}
#: Programs about a problem itself rather than a script.
PREPARERS: dict[str, Preparer] = {
    preparer.name: preparer for preparer in (preparing.WORKFLOW, scheme_writing.WORKFLOW, quality.WORKFLOW, difficulty.WORKFLOW)
}
