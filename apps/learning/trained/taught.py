"""Problems that a trained model was trained on, by its own job or by earlier ones.

A comparison on such problems measures memory. Problems are identified by their statements (`content_hash`): a copy, or a
version with the same text, is the same problem.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from uuid import UUID

from django.db.models import Q

from apps.datasets.versions.choosing import content_hash
from apps.learning.models import TrainedModel, TrainingJob, training_folder
from apps.problems.models import Problem, ProblemVersion

PROMPTS = "prompts.jsonl"


def problems_learned(model: TrainedModel, problems: Iterable[Problem]) -> list[Problem]:
    """Those of `problems` that the model or one of its ancestors was trained on."""
    known = _statements(model.job)
    return [problem for problem in problems if content_hash(problem.current.statement) in known]


def _statements(job: TrainingJob | None) -> set[str]:
    found: set[str] = set()
    while job is not None:
        found |= {content_hash(one.statement) for one in _versions(job)}
        job = _job_before(job)
    return found


def _versions(job: TrainingJob) -> Iterable[ProblemVersion]:
    """All versions of the problems a job played itself, and the versions in its dataset."""
    played = Q(problem__slug__in=job.rollouts.get("problems", ()) if job.rollouts else ())
    stored = Q(pk__in=[])
    for problem, _, number in {name.rpartition("@") for name in _problems_of_rows(job)}:
        stored |= Q(problem__public_id=problem, number=number)
    return ProblemVersion.objects.filter(played | stored)


def _problems_of_rows(job: TrainingJob) -> set[str]:
    """Problem names with version numbers, from the dataset's prompts."""
    if job.dataset is None:
        return set()
    try:
        with (job.dataset.folder / PROMPTS).open(encoding="utf-8") as file:
            return {json.loads(line)["problem_id"] for line in file}
    except OSError:
        return set()


def _job_before(job: TrainingJob) -> TrainingJob | None:
    """Job of the checkpoint or registered model that `job` started from; None where there is none."""
    base, root = job.config.get("base"), training_folder().resolve()
    if not isinstance(base, str) or not Path(base).is_relative_to(root):
        return None
    first, *rest = Path(base).relative_to(root).parts
    if first == "models":
        named = TrainedModel.objects.filter(name=rest[0]).select_related("job").first() if rest else None
        return named.job if named else None
    try:
        return TrainingJob.objects.filter(public_id=UUID(first)).first()
    except ValueError:
        return None
