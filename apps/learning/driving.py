"""Drives training jobs: takes what waits, starts the trainer, looks after it until it ends, and says how it ended.

Nothing is held in memory that matters: which jobs there are stands in the rows, what a trainer does in its folder, and that it
lives in a lock it inherited. A driver may be killed at any moment; the next one takes the trainer over where it is.
"""

import errno
import logging
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db.models import Q
from django.db.utils import DatabaseError
from django.utils import timezone

from apps.learning.comparing import toy_play_one, toys_wait
from apps.learning.folders import (
    DRIVER_LOCK,
    LOST_AFTER_S,
    attempt_silent_for,
    locked,
    prepare,
    said,
    silent_for,
    trainer_lives,
)
from apps.learning.job_ends import End, end_of
from apps.learning.jobs import what_it_learns_from
from apps.learning.models import JobState, TrainingJob, under_way
from apps.learning.rollouts import Rollouts
from apps.learning.trainers import FolderBusy, TrainerMissing, start, tell_group

logger = logging.getLogger(__name__)
TICK_S = 0.5
_closing = threading.Event()
_claims = threading.Lock()
_at_work = threading.BoundedSemaphore(max(1, len(settings.TRAIN_DEVICES)))


def close() -> None:
    """This process ends: trainers are asked to save, and their jobs wait for the next worker."""
    _closing.set()


def has_room() -> bool:
    """Whether this process could drive another job."""
    if not _at_work.acquire(blocking=False):
        return False
    _at_work.release()
    return True


def training_work() -> None:
    """Play and drive what waits, one after the other, until nothing does; the body of the task."""
    if not _at_work.acquire(blocking=False):
        return
    try:
        while not _closing.is_set() and (toy_play_one() or _drive_one()):
            pass
    finally:
        _at_work.release()


def somebody_waits() -> bool:
    """Whether a job waits for a device that is free, or for somebody who looks after its trainer."""
    return toys_wait() or any(job.state != JobState.QUEUED or _free_device() is not None for job in _candidates())


def _candidates() -> list[TrainingJob]:
    """Jobs whose driver may be gone, then those that wait, oldest first."""
    here = socket.gethostname()
    begun = TrainingJob.objects.filter(under_way()).order_by("started_at", "pk")
    orphans = [job for job in begun if (job.host == here or _is_forgotten(job)) and _is_nobodys(job)]
    return orphans + list(TrainingJob.objects.filter(state=JobState.QUEUED).order_by("queued_at", "pk")[:20])


def _is_nobodys(job: TrainingJob) -> bool:
    with locked(job.folder / DRIVER_LOCK) as free:
        return free is not None


def _is_forgotten(job: TrainingJob) -> bool:
    """Another machine trained it and has been silent for long; its processes cannot be seen from here."""
    silent = attempt_silent_for(job.folder, job.started_at)
    if silent is not None:
        return silent > LOST_AFTER_S
    return job.started_at is None or timezone.now() - job.started_at > timedelta(seconds=LOST_AFTER_S)


def _drive_one() -> bool:
    """Drive one job to its end; False where there is none for us."""
    for job in _candidates():
        with locked(job.folder / DRIVER_LOCK) as mine:
            if mine is None:
                continue
            job.refresh_from_db()
            if job.state == JobState.QUEUED:
                if not _claimed(job):
                    continue
            elif not job.is_under_way:
                continue
            _drive(job)
            return True
    return False


def _free_device() -> str | None:
    """A set of devices that no job of this machine has; None where all are taken."""
    busy = TrainingJob.objects.filter(under_way(), host=socket.gethostname()).values_list("device", flat=True)
    free = Counter(settings.TRAIN_DEVICES or [""]) - Counter(busy)
    return next(iter(free), None)


def _claimed(job: TrainingJob) -> bool:
    with _claims:
        device = _free_device()
        if device is None:
            return False
        told = said(job.folder)
        values = {
            "state": JobState.STARTING,
            "host": socket.gethostname(),
            "device": device,
            "pid": None,
            "attempt": (told.attempt if told else 0) + 1,
            "started_at": timezone.now(),
            "ended_at": None,
            "reason": "",
            "message": "",
        }
        found = TrainingJob.objects.filter(pk=job.pk, state=JobState.QUEUED).update(**values)
    job.refresh_from_db()
    return bool(found)


def _drive(job: TrainingJob) -> None:
    told = said(job.folder)
    has_begun = job.pid is not None or (told is not None and told.attempt >= job.attempt)
    process = None
    if not has_begun and not trainer_lives(job.folder):
        try:
            process = _begin(job)
        except (TrainerMissing, FolderBusy, OSError) as error:
            _settle(job, _why_not(error))
            return
    _Watch(job, process).follow()


def _begin(job: TrainingJob) -> "subprocess.Popen[bytes]":
    """Raises `TrainerMissing`, `FolderBusy`, OSError."""
    found = what_it_learns_from(job.dataset) if job.dataset else None
    if found is not None and not found.exists():
        raise FileNotFoundError(errno.ENOENT, f"The {found.stem} of {job.dataset} are not there", str(found))
    prepare(job.folder, job.config, found)
    process = start(job.folder, resume=job.attempt > 1, device=job.device)
    TrainingJob.objects.filter(pk=job.pk).update(pid=process.pid)
    job.pid = process.pid
    logger.info("training job %s: attempt %d is process %d", job.public_id, job.attempt, process.pid)
    return process


def _why_not(error: Exception) -> End:
    if isinstance(error, TrainerMissing):
        return End(JobState.FAILED, "no_trainer", str(error))
    if isinstance(error, FolderBusy):
        return End(JobState.FAILED, "busy", "Another trainer still works in this job's folder.")
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return End(JobState.FAILED, "disk_full", "No space is left on the disk, so the job could not begin.")
    if isinstance(error, FileNotFoundError):
        return End(JobState.FAILED, "bad_rows", f"{error.strerror} ({error.filename}).")
    return End(JobState.FAILED, "crashed", f"The trainer could not be started: {error}")


def _settle(job: TrainingJob, end: End) -> None:
    """Writes down how it ended, unless somebody did."""
    told = said(job.folder)
    values: dict[str, object] = {"state": end.state, "reason": end.reason, "message": end.message}
    if told is not None:
        values |= {"step": told.step, "checkpoint": told.checkpoint}
    now = timezone.now()
    values |= {"queued_at": now} if end.state == JobState.QUEUED else {"ended_at": now, "stop_asked_at": None}
    TrainingJob.objects.filter(Q(pk=job.pk) & under_way()).update(**values)
    logger.info("training job %s: %s (%s)", job.public_id, end.state, end.reason or end.message or "done")


class _Watch:
    """Looks after one trainer: brings its state to the row, and a wish to stop to it. `process` is None for one taken over."""

    def __init__(self, job: TrainingJob, process: "subprocess.Popen[bytes] | None") -> None:
        self.job, self.process = job, process
        self._rollouts = Rollouts(job) if job.rollouts else None
        self._seen: object = None
        self._told_at: float | None = None
        self._killed = False

    def follow(self) -> None:
        """Until it ends."""
        while self._lives():
            try:
                self._look()
            except DatabaseError as error:
                logger.warning("training job %s: the database does not answer (%s)", self.job.public_id, error)
            time.sleep(TICK_S)
        status = self.process.returncode if self.process else None
        if self.process:
            tell_group(self.process.pid, signal.SIGKILL)  # A launcher may have left processes behind.
        if self._rollouts:
            self._rollouts.end()
        asked = TrainingJob.objects.filter(pk=self.job.pk, stop_asked_at__isnull=False).exists()
        is_ours = self.process is None or _closing.is_set()
        end = end_of(self.job, said(self.job.folder), status, asked=asked, killed=self._killed, goes_on=is_ours)
        if self._rollouts and self._rollouts.trouble:
            end = End(JobState.FAILED, "no_runs", self._rollouts.trouble)
        _settle(self.job, end)

    def _lives(self) -> bool:
        """One that was taken over is gone when nobody holds its lock and its heart has been silent for long."""
        if self.process is not None:
            return self.process.poll() is None
        if trainer_lives(self.job.folder):
            return True
        told, silent = said(self.job.folder), silent_for(self.job.folder)
        has_said = told is not None and told.attempt >= self.job.attempt and told.has_ended
        return not has_said and silent is not None and silent <= LOST_AFTER_S

    def _look(self) -> None:
        told = said(self.job.folder)
        if told is not None and told != self._seen and told.attempt >= self.job.attempt:
            values: dict[str, object] = {"step": told.step, "checkpoint": told.checkpoint, "attempt": told.attempt}
            if not told.has_ended:
                values |= {"state": JobState.RUNNING, "message": told.message}
            TrainingJob.objects.filter(Q(pk=self.job.pk) & under_way()).update(**values)
            self._seen, self.job.attempt = told, told.attempt
        if self._rollouts:
            self._rollouts.look()
        is_hopeless = self._rollouts is not None and self._rollouts.trouble != ""
        if is_hopeless or _closing.is_set() or TrainingJob.objects.filter(pk=self.job.pk, stop_asked_at__isnull=False).exists():
            self._stop()

    def _stop(self) -> None:
        told = said(self.job.folder)
        leader = self.job.pid or (told.pid if told else 0)
        if not leader:
            return
        tell = partial(tell_group, leader)
        if self._told_at is None:
            self._told_at = time.monotonic()
            tell(signal.SIGTERM)
        elif not self._killed and time.monotonic() - self._told_at > settings.TRAIN_GRACE_S:
            self._killed = True
            tell(signal.SIGKILL)
