"""All scaffolds, and every program that a run can be."""

from apps.reasoning.graders.registry import GRADERS, PREPARERS
from apps.reasoning.programs import best_of
from apps.reasoning.scaffolds.registry import UNGRADED
from apps.reasoning.scaffolds.scaffold import Scaffold

SCAFFOLDS: dict[str, Scaffold] = {**UNGRADED, best_of.NAME: best_of.SCAFFOLD}
PROGRAMS: dict[str, Scaffold] = {**SCAFFOLDS, **GRADERS, **PREPARERS}
