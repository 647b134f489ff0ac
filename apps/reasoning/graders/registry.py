"""The graders that can be run, and every program that a run can be: one literal table each."""

from apps.reasoning.graders import ensemble, jury, points8, single_turn, with_references, with_scheme
from apps.reasoning.graders.grader import Grader
from apps.reasoning.scaffolds.registry import SCAFFOLDS
from apps.reasoning.scaffolds.scaffold import Scaffold

GRADERS: dict[str, Grader] = {
    grader.name: grader
    for grader in (
        single_turn.WORKFLOW,
        *with_references.WORKFLOWS,
        with_scheme.WORKFLOW,
        points8.WORKFLOW,
        ensemble.WORKFLOW,
        jury.WORKFLOW,
    )
}
PROGRAMS: dict[str, Scaffold] = {**SCAFFOLDS, **GRADERS}
