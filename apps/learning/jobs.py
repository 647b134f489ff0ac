"""What people do with training jobs: start, stop, resume. The rows are the truth; the task is only a nudge."""

import json
import logging
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from apps.accounts.models import User
from apps.datasets.models import DatasetVersion
from apps.learning.folders import TEXTS
from apps.learning.models import RESUMABLE, UNDER_WAY, JobState, TrainingJob
from apps.learning.rollout_plan import RolloutPlan
from apps.learning.tasks import TRAIN_QUEUE, train

logger = logging.getLogger(__name__)


ROWS = "rows/"


@dataclass(frozen=True)
class Draft:
    """A job to be: `config` without what follows from the dataset. `rollouts`: a `RolloutPlan` where it plays by itself."""

    title: str
    base_title: str
    config: Mapping[str, Any]
    dataset: DatasetVersion | None = None
    rollouts: RolloutPlan | None = None


def job_create(*, owner: User, draft: Draft, start_id: uuid.UUID | None = None) -> TrainingJob:
    """Queues a job. The same form sent twice is one job."""
    config = {"format": 1, **draft.config}
    if draft.dataset is not None:
        config["dataset"] = _dataset_facts(draft.dataset)
    values = {
        "title": draft.title,
        "owner": owner,
        "recipe": config["recipe"],
        "base_title": draft.base_title,
        "dataset": draft.dataset,
        "config": config,
        "rollouts": draft.rollouts.model_dump(mode="json") if draft.rollouts else {},
        "steps": config["steps"],
        "queued_at": timezone.now(),
    }
    try:
        with transaction.atomic():
            job = TrainingJob.objects.create(start_id=start_id, **values)
    except IntegrityError:
        return TrainingJob.objects.get(start_id=start_id)
    transaction.on_commit(nudge)
    return job


def manifest_of(dataset: DatasetVersion) -> dict[str, Any]:
    """What its folder says of a version; empty where that cannot be read."""
    try:
        found = json.loads((dataset.folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _dataset_facts(dataset: DatasetVersion) -> dict[str, Any]:
    """What the trainer compares and every checkpoint's manifest keeps."""
    manifest = manifest_of(dataset)
    return {
        "name": f"{dataset.name}-{dataset.version}",
        "hash": dataset.hash,
        "tokenizer": manifest.get("tokenizer") or None,
        "chat_template": manifest.get("chat_template") or None,
        "shards": {name.removeprefix(ROWS): sha for name, sha in manifest.get("files", {}).items() if name.startswith(ROWS)},
    }


def what_it_learns_from(dataset: DatasetVersion) -> Path:
    """The folder of its rows; of a version without tokens the file of its texts, which the trainer tokenises."""
    return dataset.folder / ("rows" if dataset.has_tokens else TEXTS)


def job_stop(job: TrainingJob) -> bool:
    """Asks a job to save and stop; one that waits ends at once. False where there was nothing to stop."""
    now = timezone.now()
    waits = TrainingJob.objects.filter(pk=job.pk, state=JobState.QUEUED)
    if waits.update(state=JobState.STOPPED, ended_at=now, message="Stopped while it waited."):
        return True
    mine = TrainingJob.objects.filter(pk=job.pk, state__in=UNDER_WAY, stop_asked_at=None)
    return bool(mine.update(stop_asked_at=now))


def job_resume(job: TrainingJob) -> bool:
    """Queues a job that ended before its last step; it goes on from its last complete checkpoint. False where it cannot."""
    values = {"state": JobState.QUEUED, "queued_at": timezone.now(), "stop_asked_at": None, "reason": "", "message": ""}
    found = TrainingJob.objects.filter(pk=job.pk, state__in=RESUMABLE).update(**values)
    if found:
        transaction.on_commit(nudge)
    return bool(found)


def nudge() -> None:
    """Tells a train worker that a job waits. Where the broker does not answer, the worker finds it by itself."""
    try:
        train.apply_async(queue=TRAIN_QUEUE, retry=False)
    except (OperationalError, RedisError, OSError) as error:
        logger.warning("training: the broker does not answer (%s); the worker looks by itself", error)
