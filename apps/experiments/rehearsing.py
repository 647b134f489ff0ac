"""Rehearse an experiment on grading: simulated graders play its cells in memory, without a run or a model.

Not here: rehearsals of experiments on solving (`solving.rehearsal`), and simulated graders (`apps.reasoning.rehearsal`).
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean
from typing import Any

from django.conf import settings

from apps.experiments.cells import CellBatch, cell_spec
from apps.experiments.models import Experiment, ExperimentCell, ExperimentKind
from apps.experiments.refusals import ExperimentRefused
from apps.graded_sets.models import GradedScript
from apps.graders.planning.plans import PlanWrong
from apps.reasoning.domain.errors import ReasoningError
from apps.reasoning.inference.aliases import load_measurable
from apps.reasoning.rehearsal.gradings import grading_played
from apps.reasoning.rehearsal.scripts import MOST, Scripts
from apps.reasoning.rehearsal.skills import Skills

Row = dict[str, Any]


def gradings_rehearsed(experiment: Experiment, skills: Skills) -> Iterator[Row]:
    """A row for each script: `paper`, `problem`, `author`, `human`, and points by grader with its models, all of 7.

    Repeats count with their mean; None for a script without points, and `unscored` says why by grader.
    Raises `ExperimentRefused` and `SkillsWrong`.
    """
    if experiment.kind != ExperimentKind.GRADING or experiment.graded_set is None:
        raise ExperimentRefused("Only gradings of a set can be rehearsed, because the points of people must be known.")
    batch = CellBatch(experiment, load_measurable(settings.MODELS_FILE))
    by_script: dict[int, list[ExperimentCell]] = defaultdict(list)
    for cell in experiment.cells.order_by("position"):
        by_script[cell.script_id or 0].append(cell)
    scripts = GradedScript.objects.filter(pk__in=by_script).select_related("graded_set", "problem__problem")
    for script in scripts.prefetch_related("human_scores").order_by("position"):
        yield _row(script, by_script[script.pk], batch, skills)


def _row(script: GradedScript, cells: list[ExperimentCell], batch: CellBatch, skills: Skills) -> Row:
    given = [MOST * float(score.points / score.out_of) for score in script.human_scores.all()]
    human, known = fmean(given) if given else None, Scripts()
    if human is not None:
        known.know(script.text, human)
    points: dict[str, list[float]] = {}
    unscored: dict[str, str] = {}
    for cell in cells:
        cell.script, grader = script, f"{cell.workflow}@{cell.alias}"
        found = _played(cell, batch, skills, known)
        points.setdefault(grader, []).extend([found] if isinstance(found, float) else [])
        unscored |= {grader: found} if isinstance(found, str) else {}
    row: Row = {"paper": script.name, "problem": script.problem_name, "author": script.author_kind, "human": human}
    row |= {grader: fmean(each) if each else None for grader, each in points.items()}
    return row | ({"unscored": unscored} if unscored else {})


def _played(cell: ExperimentCell, batch: CellBatch, skills: Skills, known: Scripts) -> float | str:
    """Points of 7, or why there are none."""
    try:
        spec, _, _ = cell_spec(cell, batch)
        found = asyncio.run(grading_played(spec, skills, known, f"{cell.position}/{spec.seed}"))
    except (PlanWrong, ReasoningError) as error:
        return str(error)
    return found.unscored if found.points is None else MOST * found.points / float(found.grading["scale"])
