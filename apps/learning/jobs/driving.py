"""Driver of training jobs: claims a queued job, starts its trainer, follows it and records how it ended.

No state is kept in memory only. Jobs are in the database, a trainer's progress is in its folder, and a lock that the trainer
inherits shows that it is running. After a driver is killed, the next one takes over its trainer.
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

from apps.learning.jobs.ends import End, end_of
from apps.learning.jobs.folders import (
    DRIVER_LOCK,
    LOST_AFTER_S,
    attempt_silent_for,
    locked,
    prepare,
    silent_for,
    trainer_is_running,
    trainer_state,
)
from apps.learning.jobs.jobs import training_data
from apps.learning.jobs.trainers import FolderBusy, TrainerMissing, signal_group, start
from apps.learning.models import JobState, TrainingJob, under_way
from apps.learning.rollouts.rollouts import Rollouts
from apps.learning.trained.comparing import toy_play_one, toys_wait

logger = logging.getLogger(__name__)
TICK_S = 0.5
_closing = threading.Event()
_claims = threading.Lock()
_at_work = threading.BoundedSemaphore(max(1, len(settings.TRAIN_DEVICES)))


def close() -> None:
    """Shut down this process: ask its trainers to save and queue their jobs for the next worker."""
    _closing.set()


def has_room() -> bool:
    """Whether this process can drive another job."""
    if not _at_work.acquire(blocking=False):
        return False
    _at_work.release()
    return True


def training_work() -> None:
    """Play waiting comparisons and drive waiting jobs, one at a time, until none is left; the body of the task."""
    if not _at_work.acquire(blocking=False):
        return
    try:
        while not _closing.is_set() and (toy_play_one() or _drive_one()):
            pass
    finally:
        _at_work.release()


def has_waiting_work() -> bool:
    """Whether a comparison waits, a queued job could have a free device, or a trainer has no driver."""
    return toys_wait() or any(job.state != JobState.QUEUED or _free_device() is not None for job in _candidates())


def _candidates() -> list[TrainingJob]:
    """Jobs without a driver, then queued jobs, oldest first."""
    here = socket.gethostname()
    begun = TrainingJob.objects.filter(under_way()).order_by("started_at", "pk")
    orphans = [job for job in begun if (job.host == here or _is_forgotten(job)) and _has_no_driver(job)]
    return orphans + list(TrainingJob.objects.filter(state=JobState.QUEUED).order_by("queued_at", "pk")[:20])


def _has_no_driver(job: TrainingJob) -> bool:
    with locked(job.folder / DRIVER_LOCK) as free:
        return free is not None


def _is_forgotten(job: TrainingJob) -> bool:
    """Whether a job, usually of another machine whose processes we cannot see, has sent no heartbeat for long."""
    silent = attempt_silent_for(job.folder, job.started_at)
    if silent is not None:
        return silent > LOST_AFTER_S
    return job.started_at is None or timezone.now() - job.started_at > timedelta(seconds=LOST_AFTER_S)


def _drive_one() -> bool:
    """Drive one job to its end; False where there is none to drive."""
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
    """A set of devices that no job of this machine uses; None where all are in use."""
    busy = TrainingJob.objects.filter(under_way(), host=socket.gethostname()).values_list("device", flat=True)
    free = Counter(settings.TRAIN_DEVICES or [""]) - Counter(busy)
    return next(iter(free), None)


def _claimed(job: TrainingJob) -> bool:
    with _claims:
        device = _free_device()
        if device is None:
            return False
        state = trainer_state(job.folder)
        values = {
            "state": JobState.STARTING,
            "host": socket.gethostname(),
            "device": device,
            "pid": None,
            "attempt": (state.attempt if state else 0) + 1,
            "started_at": timezone.now(),
            "ended_at": None,
            "reason": "",
            "message": "",
        }
        found = TrainingJob.objects.filter(pk=job.pk, state=JobState.QUEUED).update(**values)
    job.refresh_from_db()
    return bool(found)


def _drive(job: TrainingJob) -> None:
    state = trainer_state(job.folder)
    has_begun = job.pid is not None or (state is not None and state.attempt >= job.attempt)
    process = None
    if not has_begun and not trainer_is_running(job.folder):
        try:
            process = _start_trainer(job)
        except (TrainerMissing, FolderBusy, OSError) as error:
            _settle(job, _end_without_start(error))
            return
    _Watch(job, process).follow()


def _start_trainer(job: TrainingJob) -> "subprocess.Popen[bytes]":
    """Start the job's trainer. Raises `TrainerMissing`, `FolderBusy`, OSError."""
    found = training_data(job.dataset) if job.dataset else None
    if found is not None and not found.exists():
        raise FileNotFoundError(errno.ENOENT, f"The {found.stem} of {job.dataset} are missing", str(found))
    prepare(job.folder, job.config, found)
    process = start(job.folder, resume=job.attempt > 1, device=job.device)
    TrainingJob.objects.filter(pk=job.pk).update(pid=process.pid)
    job.pid = process.pid
    logger.info("training job %s: attempt %d is process %d", job.public_id, job.attempt, process.pid)
    return process


def _end_without_start(error: Exception) -> End:
    if isinstance(error, TrainerMissing):
        return End(JobState.FAILED, "no_trainer", str(error))
    if isinstance(error, FolderBusy):
        return End(JobState.FAILED, "busy", "Another trainer is still running in this job's folder.")
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return End(JobState.FAILED, "disk_full", "The disk is full, so the job could not start.")
    if isinstance(error, FileNotFoundError):
        return End(JobState.FAILED, "bad_rows", f"{error.strerror} ({error.filename}).")
    return End(JobState.FAILED, "crashed", f"The trainer could not be started: {error}")


def _settle(job: TrainingJob, end: End) -> None:
    """Record how a job ended, unless another worker already has."""
    state = trainer_state(job.folder)
    values: dict[str, object] = {"state": end.state, "reason": end.reason, "message": end.message}
    if state is not None:
        values |= {"step": state.step, "checkpoint": state.checkpoint}
    now = timezone.now()
    values |= {"queued_at": now} if end.state == JobState.QUEUED else {"ended_at": now, "stop_asked_at": None}
    TrainingJob.objects.filter(Q(pk=job.pk) & under_way()).update(**values)
    logger.info("training job %s: %s (%s)", job.public_id, end.state, end.reason or end.message or "done")


class _Watch:
    """Follows one trainer: copies its state to the database, and stops it on request. `process` is None after a takeover."""

    def __init__(self, job: TrainingJob, process: "subprocess.Popen[bytes] | None") -> None:
        self.job, self.process = job, process
        self._rollouts = Rollouts(job) if job.rollouts else None
        self._seen: object = None
        self._stop_sent_at: float | None = None
        self._killed = False

    def follow(self) -> None:
        """Follow the trainer until it ends, then record its end."""
        while self._is_running():
            try:
                self._poll()
            except DatabaseError as error:
                logger.warning("training job %s: the database does not answer (%s)", self.job.public_id, error)
            time.sleep(TICK_S)
        status = self.process.returncode if self.process else None
        if self.process:
            signal_group(self.process.pid, signal.SIGKILL)  # A launcher may have left processes behind.
        if self._rollouts:
            self._rollouts.end()
        asked = TrainingJob.objects.filter(pk=self.job.pk, stop_asked_at__isnull=False).exists()
        is_ours = self.process is None or _closing.is_set()
        end = end_of(self.job, trainer_state(self.job.folder), status, asked=asked, killed=self._killed, is_ours=is_ours)
        if self._rollouts and self._rollouts.trouble:
            end = End(JobState.FAILED, "no_runs", self._rollouts.trouble)
        _settle(self.job, end)

    def _is_running(self) -> bool:
        """A trainer that was taken over has ended when its lock is free and its heartbeat has stopped for long."""
        if self.process is not None:
            return self.process.poll() is None
        if trainer_is_running(self.job.folder):
            return True
        state, silent = trainer_state(self.job.folder), silent_for(self.job.folder)
        has_ended = state is not None and state.attempt >= self.job.attempt and state.has_ended
        return not has_ended and silent is not None and silent <= LOST_AFTER_S

    def _poll(self) -> None:
        state = trainer_state(self.job.folder)
        if state is not None and state != self._seen and state.attempt >= self.job.attempt:
            values: dict[str, object] = {"step": state.step, "checkpoint": state.checkpoint, "attempt": state.attempt}
            if not state.has_ended:
                values |= {"state": JobState.RUNNING, "message": state.message}
            TrainingJob.objects.filter(Q(pk=self.job.pk) & under_way()).update(**values)
            self._seen, self.job.attempt = state, state.attempt
        if self._rollouts:
            self._rollouts.poll()
        is_hopeless = self._rollouts is not None and self._rollouts.trouble != ""
        if is_hopeless or _closing.is_set() or TrainingJob.objects.filter(pk=self.job.pk, stop_asked_at__isnull=False).exists():
            self._stop()

    def _stop(self) -> None:
        state = trainer_state(self.job.folder)
        leader = self.job.pid or (state.pid if state else 0)
        if not leader:
            return
        send = partial(signal_group, leader)
        if self._stop_sent_at is None:
            self._stop_sent_at = time.monotonic()
            send(signal.SIGTERM)
        elif not self._killed and time.monotonic() - self._stop_sent_at > settings.TRAIN_GRACE_S:
            self._killed = True
            send(signal.SIGKILL)
