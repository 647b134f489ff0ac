"""Training for the operations page: queued jobs, and jobs under way with their device and the age of their last heartbeat.

The data comes from the database and the jobs' heartbeat files, so it needs no Redis. Train workers report by their pulse.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count

from apps.learning.jobs.folders import LOST_AFTER_S, attempt_silent_for
from apps.learning.models import UNDER_WAY, JobState, TrainingJob

MAX_JOBS = 50


@dataclass(frozen=True)
class JobNow:
    """A job under way. `silent_s`: seconds since its trainer's last heartbeat; None without a heartbeat."""

    job: TrainingJob
    silent_s: float | None

    @property
    def device(self) -> str:
        """The device as the worker names it, else the one that the job requests."""
        return self.job.device or str(self.job.config.get("device", "auto"))

    @property
    def is_silent(self) -> bool:
        """Whether the last heartbeat is older than a running trainer allows."""
        return self.silent_s is not None and self.silent_s > LOST_AFTER_S


@dataclass(frozen=True)
class TrainingNow:
    """Training jobs. `states`: number of jobs in every state. `jobs`: jobs under way, oldest first."""

    states: Mapping[str, int]
    jobs: Sequence[JobNow] = ()

    @property
    def queued(self) -> int:
        """Number of jobs that wait for a device."""
        return self.states.get(JobState.QUEUED, 0)

    @property
    def under_way(self) -> int:
        """Number of jobs in training or about to start."""
        return sum(self.states.get(state, 0) for state in UNDER_WAY)

    @property
    def silence_s(self) -> float | None:
        """Longest time since a heartbeat over the jobs under way; None without heartbeats."""
        return max((one.silent_s for one in self.jobs if one.silent_s is not None), default=None)


def training_now() -> TrainingNow:
    """Read the training jobs: one query, and a second if jobs are under way."""
    counts = dict(TrainingJob.objects.order_by().values_list("state").annotate(number=Count("pk")))
    states = {str(state): counts.get(state, 0) for state in JobState}
    if not any(states[state] for state in UNDER_WAY):
        return TrainingNow(states)
    found = TrainingJob.objects.filter(state__in=UNDER_WAY).order_by("started_at", "pk")[:MAX_JOBS]
    return TrainingNow(states, [JobNow(job, attempt_silent_for(job.folder, job.started_at)) for job in found])
