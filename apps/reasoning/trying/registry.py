"""Every program that a run can be, the trial of a model among them."""

from apps.reasoning.programs.registry import PROGRAMS
from apps.reasoning.scaffolds.scaffold import Scaffold
from apps.reasoning.trying import program

RUNNABLE: dict[str, Scaffold] = {**PROGRAMS, program.NAME: program.PROGRAM}
