"""Commands on training jobs: create, stop, resume. The database decides what runs; the task only wakes a worker."""

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
from apps.datasets.versions.manifest import scored_at
from apps.learning.jobs.folders import TEXTS
from apps.learning.models import RESUMABLE, UNDER_WAY, JobState, Sweep, TrainingJob
from apps.learning.queues import TRAIN_QUEUE, train
from apps.learning.rollouts.plan import RolloutPlan

logger = logging.getLogger(__name__)


ROWS = "rows/"


@dataclass(frozen=True)
class Draft:
    """A job to create: `config` without the dataset's facts; `rollouts` where the job makes its own runs."""

    title: str
    base_title: str
    config: Mapping[str, Any]
    dataset: DatasetVersion | None = None
    rollouts: RolloutPlan | None = None


def job_create(*, owner: User, draft: Draft, start_id: uuid.UUID | None = None, sweep: Sweep | None = None) -> TrainingJob:
    """Queue a job, for a sweep if it is given. A form submitted twice creates one job."""
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
        "sweep": sweep,
    }
    try:
        with transaction.atomic():
            job = TrainingJob.objects.create(start_id=start_id, **values)
    except IntegrityError:
        return TrainingJob.objects.get(start_id=start_id)
    transaction.on_commit(nudge)
    return job


def manifest_of(dataset: DatasetVersion) -> dict[str, Any]:
    """Manifest of a version; empty where it cannot be read."""
    try:
        found = json.loads((dataset.folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _dataset_facts(dataset: DatasetVersion) -> dict[str, Any]:
    """Facts that the trainer checks and every checkpoint's manifest keeps."""
    manifest = manifest_of(dataset)
    return {
        "name": f"{dataset.name}-{dataset.version}",
        "hash": dataset.hash,
        "tokenizer": manifest.get("tokenizer") or None,
        "chat_template": manifest.get("chat_template") or None,
        "temperature": scored_at(manifest) if manifest and dataset.has_tokens else None,
        "shards": {name.removeprefix(ROWS): sha for name, sha in manifest.get("files", {}).items() if name.startswith(ROWS)},
    }


def training_data(dataset: DatasetVersion) -> Path:
    """Folder of the rows; for a version without tokens, the file of texts that the trainer tokenises."""
    return dataset.folder / ("rows" if dataset.has_tokens else TEXTS)


def job_stop(job: TrainingJob) -> bool:
    """Ask a job to save and stop; a queued job ends at once. False where there was nothing to stop."""
    now = timezone.now()
    waits = TrainingJob.objects.filter(pk=job.pk, state=JobState.QUEUED)
    if waits.update(state=JobState.STOPPED, ended_at=now, message="Stopped while queued."):
        return True
    mine = TrainingJob.objects.filter(pk=job.pk, state__in=UNDER_WAY, stop_asked_at=None)
    return bool(mine.update(stop_asked_at=now))


def job_resume(job: TrainingJob) -> bool:
    """Queue a job that ended before its last step, to continue from its last complete checkpoint. False where it cannot."""
    values = {"state": JobState.QUEUED, "queued_at": timezone.now(), "stop_asked_at": None, "reason": "", "message": ""}
    found = TrainingJob.objects.filter(pk=job.pk, state__in=RESUMABLE).update(**values)
    if found:
        transaction.on_commit(nudge)
    return bool(found)


def nudge() -> None:
    """Wake a train worker. Without a broker the worker finds the waiting job at its next poll."""
    try:
        train.apply_async(queue=TRAIN_QUEUE, retry=False)
    except (OperationalError, RedisError, OSError) as error:
        logger.warning("training: the broker does not answer (%s); the worker will find the job at its next poll", error)
