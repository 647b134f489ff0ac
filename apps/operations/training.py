"""Training as the operations page shows it: jobs that wait and jobs under way, where they train, and how long they are silent.

The rows and the heartbeat files of the jobs tell it, so it is there without Redis; whether a train worker lives says its pulse.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count

from apps.learning.folders import LOST_AFTER_S, attempt_silent_for
from apps.learning.models import UNDER_WAY, JobState, TrainingJob

JOBS_AT_MOST = 50


@dataclass(frozen=True)
class JobNow:
    """A job under way. `silent_s`: seconds since its trainer's last heartbeat; None where none is seen."""

    job: TrainingJob
    silent_s: float | None

    @property
    def device(self) -> str:
        """The worker's name of the device, else what the job asks for."""
        return self.job.device or str(self.job.config.get("device", "auto"))

    @property
    def is_silent(self) -> bool:
        """Longer than a trainer that lives ever is."""
        return self.silent_s is not None and self.silent_s > LOST_AFTER_S


@dataclass(frozen=True)
class TrainingNow:
    """`states`: jobs by state, all states. `jobs`: those under way, the oldest first."""

    states: Mapping[str, int]
    jobs: Sequence[JobNow] = ()

    @property
    def queued(self) -> int:
        """Jobs that wait for a device."""
        return self.states.get(JobState.QUEUED, 0)

    @property
    def under_way(self) -> int:
        """Jobs that are trained, or about to be."""
        return sum(self.states.get(state, 0) for state in UNDER_WAY)

    @property
    def silence_s(self) -> float | None:
        """The longest silence of a job under way; None where none beats."""
        return max((one.silent_s for one in self.jobs if one.silent_s is not None), default=None)


def training_now() -> TrainingNow:
    """One query, a second where jobs are under way."""
    counts = dict(TrainingJob.objects.order_by().values_list("state").annotate(number=Count("pk")))
    states = {str(state): counts.get(state, 0) for state in JobState}
    if not any(states[state] for state in UNDER_WAY):
        return TrainingNow(states)
    found = TrainingJob.objects.filter(state__in=UNDER_WAY).order_by("started_at", "pk")[:JOBS_AT_MOST]
    return TrainingNow(states, [JobNow(job, attempt_silent_for(job.folder, job.started_at)) for job in found])
