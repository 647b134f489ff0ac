"""Content of a job's page, except for its curves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from redis.exceptions import RedisError

from apps.graders.planning.naming import VARIANTS
from apps.learning.charts.charts import word_of
from apps.learning.charts.curves import curves_of, reading
from apps.learning.jobs.ends import ADVICE, NEEDS_A_NEW_JOB
from apps.learning.jobs.folders import LOST_AFTER_S, attempt_silent_for, checkpoint_steps, log_tail
from apps.learning.jobs.hyperparameters import tracker_notes
from apps.learning.jobs.settings import lines_of
from apps.learning.jobs.waiting import waits_for
from apps.learning.models import JobState, Rollout, TrainingJob
from apps.learning.presets import next_preset
from apps.learning.rollouts.curriculum import words_of
from apps.learning.rollouts.plan import REWARD_BEGINS_S, RolloutPlan, plan_of, title_of_alias
from apps.learning.rollouts.producer import left_out, producer_state
from apps.learning.rollouts.resting import visits_rested
from apps.learning.rollouts.rewards import RewardCounts, reward_counts
from apps.processes.pulse import pulses
from apps.processes.streams import sync_client
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.runs.models import LIVE, RunStatus

LOG_LINES = 12
#: Number of a job's own runs that its page links to.
NEWEST = 8
#: Status class of each state (docs/components.md).
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
    """Current state, last numbers, log and checkpoints of a job."""
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
        "resume_helps": job.reason not in NEEDS_A_NEW_JOB,
        "silent": silent if silent is not None and silent > LOST_AFTER_S else None,
        "numbers": numbers,
        "last_step": last_step,
        "log": log_tail(job.folder)[-LOG_LINES:],
        "checkpoints": list(reversed(checkpoint_steps(job.folder))),
        "next_part": next_preset(job.recipe, job.toy),
        "settings": lines_of(job.config).replace("\n", "; "),
        "trackers": tracker_notes(job),
        "played": played,
        "waits": waits_for(job, played.counts if played else {}),
        "no_worker": job.state == JobState.QUEUED and worker_is_missing(),
    }


@dataclass(frozen=True)
class Played:
    """Runs that a job made for itself, and the rows made of them."""

    plan: RolloutPlan
    counts: Mapping[str, int]
    newest: Sequence[Rollout]
    rows: int
    dropped: int
    left: Sequence[Mapping[str, Any]]
    rewards: RewardCounts | None = None
    rested: int = 0

    @property
    def chosen(self) -> list[str]:
        """What was chosen of a problem set and why, in sentences."""
        return words_of(self.plan.chosen)

    @property
    def player(self) -> str:
        """Title of the model that plays."""
        return title_of_alias(self.plan.alias)

    @property
    def scaffold(self) -> str:
        """Title of the scaffold, with its preset."""
        return f"{SCAFFOLDS[self.plan.scaffold].title}: {self.plan.preset}"

    @property
    def rewards_by(self) -> str:
        """Titles of the grader and its model."""
        grader = VARIANTS.get(self.plan.reward_workflow)
        return f"{grader.title if grader else self.plan.reward_workflow} with {title_of_alias(self.plan.reward_alias)}"

    @property
    def begins_s(self) -> float:
        """Seconds for which a reward waits for its grading to begin."""
        return REWARD_BEGINS_S

    @property
    def finished(self) -> int:
        """Number of finished runs."""
        return self.counts.get(RunStatus.FINISHED, 0)

    @property
    def live(self) -> int:
        """Number of runs under way."""
        return sum(self.counts.get(status, 0) for status in LIVE)


def played_by(job: TrainingJob) -> Played:
    """Count a job's own runs, and the rows that its producer reports."""
    rows = Rollout.objects.filter(job=job).order_by()
    counts = dict(rows.values_list("run__status").annotate(count=Count("pk")))
    newest = list(rows.select_related("run").order_by("-number")[:NEWEST])
    state = producer_state(job.folder)
    plan, rows_made, dropped = plan_of(job.rollouts), _count(state.get("rows")), _count(state.get("dropped"))
    rewards = reward_counts(job) if plan.judge == "grader" else None
    return Played(plan, counts, newest, rows_made, dropped, left_out(job.folder), rewards, visits_rested(job, plan))


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def worker_is_missing() -> bool:
    """Whether no train worker is running; False where the broker does not answer."""
    try:
        return not any(pulse["kind"] == "trainer" for pulse in pulses(sync_client()))
    except (RedisError, OSError):
        return False
