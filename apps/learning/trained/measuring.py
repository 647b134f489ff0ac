"""Comparison of a trained model with its parent on problems: an experiment on solving with one method and two teams."""

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.accounts.models import User
from apps.experiments.models import ExperimentState
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.solving.manifest import Manifest, Method, Problems, Scorer, Team
from apps.experiments.solving.services import items_chosen, manifest_stored, solving_start
from apps.experiments.solving.tables import rows_of
from apps.learning.jobs.folders import checkpoint_folder
from apps.learning.models import Comparison, ComparisonState, TrainedModel, training_folder
from apps.learning.trained.comparing import NotComparable, comparison_create, comparison_end
from apps.learning.trained.taught import problems_learned
from apps.problems.models import Problem
from apps.reasoning.inference.aliases import load_aliases

PARENT, CHILD = "parent", "child"
CANCELLED = "The experiment was cancelled. Start the comparison again."
OLDER = "Its experiment was deleted, or an older version of this program started it without one. Start it again."


@dataclass(frozen=True)
class Measurement:
    """What both models are measured on: problems of a set, a method, repeats, and what scores an answer."""

    problems: Problems
    method: Method
    scorer: Scorer
    repeats: int
    seed: int

    def manifest(self, model: TrainedModel, parent: str, number: int) -> Manifest:
        """The experiment for comparison `number` of a model. The parent's team is the first one."""
        return Manifest(
            title=f"{model.name} and its parent, comparison {number}",
            problems=self.problems,
            methods=(self.method,),
            teams=(Team(name=PARENT, roles={"": parent}), Team(name=CHILD, roles={"": model.name})),
            repeats=self.repeats,
            seed=self.seed,
            scorers=(self.scorer,),
        )


def problems_of(measurement: Measurement, model: TrainedModel) -> list[Problem]:
    """The problems that both models would solve. Raises `NotComparable`."""
    try:
        items = items_chosen(measurement.manifest(model, "", 1))
    except ExperimentRefused as refusal:
        raise NotComparable(str(refusal)) from refusal
    return [item.problem.problem for item in items]


def models_measure(*, model: TrainedModel, measurement: Measurement, user: User, start_id: uuid.UUID | None) -> Comparison:
    """Start the experiment of a comparison. Raises `NotComparable` before any run starts."""
    parent = _parent_alias(model, load_aliases(settings.MODELS_FILE))
    learned = problems_learned(model, problems_of(measurement, model))
    plan: dict[str, Any] = {"seed": measurement.seed, "attempts": measurement.repeats, "scorer": measurement.scorer.name}
    plan |= {"learned_from": [problem.title for problem in learned]}
    with transaction.atomic():
        values = {"plan": plan, "measure": f"mean score by {measurement.scorer.name}"[:60], "started_by": user}
        made = comparison_create(model=model, state=ComparisonState.RUNNING, start_id=start_id, **values)
        if made.experiment is None:
            try:
                made.experiment = solving_start(owner=user, manifest=measurement.manifest(model, parent, made.pk))
            except ExperimentRefused as refusal:
                raise NotComparable(str(refusal)) from refusal
            made.save(update_fields=["experiment"])
    return made


def _parent_alias(model: TrainedModel, known: Collection[str]) -> str:
    """Alias of the parent: the engine's own model, or the registered checkpoint that the job started from.

    Raises `NotComparable` where no engine serves the model, or its parent is an unregistered checkpoint.
    """
    if model.name not in known or not model.like:
        raise NotComparable("No engine serves this model. Compare it on a toy.")
    if not isinstance(model.parent, str) or not Path(model.parent).is_relative_to(training_folder().resolve()):
        return model.like
    for other in TrainedModel.objects.exclude(pk=model.pk).select_related("job"):
        places = (checkpoint_folder(other.job.folder, other.step), other.folder)
        if other.name in known and model.parent in [str(place.resolve()) for place in places]:
            return other.name
    raise NotComparable(
        f"Its parent, {model.parent_title}, is a checkpoint that no engine serves. Register the parent, or compare on a toy."
    )


def measurement_settle(one: Comparison) -> None:
    """Store the scores of a comparison on problems once its experiment has ended."""
    if one.state != ComparisonState.RUNNING or one.toy:
        return
    experiment = one.experiment
    if experiment is None or experiment.state == ExperimentState.CANCELLED:
        comparison_end(one, ComparisonState.FAILED, message=OLDER if experiment is None else CANCELLED)
    elif experiment.state == ExperimentState.DONE:
        problems, rows = rows_of(experiment, manifest_stored(experiment).scorers[0].name)
        means = {row.team: row.means for row in rows}
        items = [[name, means[PARENT][number], means[CHILD][number]] for number, name in enumerate(problems)]
        comparison_end(one, ComparisonState.DONE, items=items)
