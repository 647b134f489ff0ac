"""Which problems a trained model has learned from, by its own job and by those before it.

On such problems a comparison measures what a model remembers. A problem is told by its statement (`content_hash`), so a copy of
it is the same problem; another version of it that says the same is as well.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from uuid import UUID

from django.db.models import Q

from apps.datasets.choosing import content_hash
from apps.learning.models import TrainedModel, TrainingJob, training_folder
from apps.problems.models import Problem, ProblemVersion

PROMPTS = "prompts.jsonl"


def problems_taught(model: TrainedModel, problems: Iterable[Problem]) -> list[Problem]:
    """Those of `problems` that the model, or a checkpoint that it goes back to, was trained on."""
    known = _statements(model.job)
    return [problem for problem in problems if content_hash(problem.current.statement) in known]


def _statements(job: TrainingJob | None) -> set[str]:
    found: set[str] = set()
    while job is not None:
        found |= {content_hash(one.statement) for one in _versions(job)}
        job = _job_before(job)
    return found


def _versions(job: TrainingJob) -> Iterable[ProblemVersion]:
    """What it played itself, in all its versions, and the problems of which its dataset has rows."""
    played = Q(problem__slug__in=job.rollouts.get("problems", ()) if job.rollouts else ())
    stored = Q(pk__in=[])
    for problem, _, number in {name.rpartition("@") for name in _problems_of_rows(job)}:
        stored |= Q(problem__public_id=problem, number=number)
    return ProblemVersion.objects.filter(played | stored)


def _problems_of_rows(job: TrainingJob) -> set[str]:
    """Names of problems with their versions' numbers, as the dataset's prompts have them."""
    if job.dataset is None:
        return set()
    try:
        with (job.dataset.folder / PROMPTS).open(encoding="utf-8") as file:
            return {json.loads(line)["problem_id"] for line in file}
    except OSError:
        return set()


def _job_before(job: TrainingJob) -> TrainingJob | None:
    """The job whose checkpoint, or whose registered model, this one began with."""
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
