"""What a job's page shows beside its curves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from redis.exceptions import RedisError

from apps.learning.charts import word_of
from apps.learning.curves import curves_of, reading
from apps.learning.folders import LOST_AFTER_S, attempt_silent_for, checkpoint_steps, log_tail
from apps.learning.job_ends import ADVICE, IN_VAIN
from apps.learning.job_settings import lines_of
from apps.learning.models import JobState, Rollout, TrainingJob
from apps.learning.recipes import follows
from apps.learning.rollout_plan import RolloutPlan, plan_of
from apps.learning.rollouts import left_out, producer_said
from apps.learning.waiting import waits_for
from apps.runs.models import LIVE, RunStatus
from apps.runs.pulse import pulses
from apps.runs.streams import sync_client

LOG_LINES = 12
#: Runs of its own that a job's page links to.
NEWEST = 8
#: The states' classes of docs/components.md.
STATUS = {
    JobState.QUEUED: "queued",
    JobState.STARTING: "queued",
    JobState.RUNNING: "running",
    JobState.FINISHED: "finished",
    JobState.STOPPED: "paused",
    JobState.FAILED: "failed",
    JobState.LOST: "stalled",
}


def job_now(job: TrainingJob) -> dict[str, Any]:
    """State, last numbers, log and checkpoints."""
    with reading:
        curves = curves_of(job.folder)
        numbers = [(word_of(name), name, f"{value:.4g}") for name, value in sorted(curves.last.items())]
        last_step = curves.last_step
    silent = attempt_silent_for(job.folder, job.started_at) if job.is_under_way else None
    played = played_by(job) if job.rollouts else None
    return {
        "job": job,
        "status": STATUS[JobState(job.state)],
        "word": "stopping" if job.is_stopping else job.state,
        "advice": ADVICE.get(job.reason, ""),
        "resume_helps": job.reason not in IN_VAIN,
        "silent": silent if silent is not None and silent > LOST_AFTER_S else None,
        "numbers": numbers,
        "last_step": last_step,
        "log": log_tail(job.folder)[-LOG_LINES:],
        "checkpoints": list(reversed(checkpoint_steps(job.folder))),
        "next_part": follows(job.recipe, job.toy),
        "settings": lines_of(job.config).replace("\n", "; "),
        "played": played,
        "waits": waits_for(job, played.counts if played else {}),
        "no_worker": job.state == JobState.QUEUED and worker_is_missing(),
    }


@dataclass(frozen=True)
class Played:
    """What a job that makes its own rollouts has played, and what became of it."""

    plan: RolloutPlan
    counts: Mapping[str, int]
    newest: Sequence[Rollout]
    rows: int
    dropped: int
    left: Sequence[Mapping[str, Any]]

    @property
    def finished(self) -> int:
        """Runs that were fed to the trainer."""
        return self.counts.get(RunStatus.FINISHED, 0)

    @property
    def live(self) -> int:
        """Runs under way."""
        return sum(self.counts.get(status, 0) for status in LIVE)


def played_by(job: TrainingJob) -> Played:
    """From the rows of its runs, and from what the producer says of the rows that it made."""
    rows = Rollout.objects.filter(job=job).order_by()
    counts = dict(rows.values_list("run__status").annotate(count=Count("pk")))
    newest = list(rows.select_related("run").order_by("-number")[:NEWEST])
    told = producer_said(job.folder)
    return Played(
        plan_of(job.rollouts), counts, newest, _count(told.get("rows")), _count(told.get("dropped")), left_out(job.folder)
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def worker_is_missing() -> bool:
    """Whether no train worker lives. While the broker does not answer nobody knows, and nothing is claimed."""
    try:
        return not any(pulse["kind"] == "trainer" for pulse in pulses(sync_client()))
    except (RedisError, OSError):
        return False
