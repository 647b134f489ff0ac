"""Sentences about what a job is waiting for: a device, its trainer, the next rows."""

from collections.abc import Iterator, Mapping

from apps.learning.jobs.folders import trainer_state
from apps.learning.jobs.unread import rows_unread
from apps.learning.models import Comparison, ComparisonState, JobState, TrainingJob, under_way
from apps.learning.presets import rows_per_step
from apps.learning.rollouts.plan import plan_of
from apps.learning.rollouts.producer import producer_state
from apps.runs.models import LIVE, RunStatus

#: Sentence for each waiting state of the trainer (docs/learning_jobs.md).
TRAINER = {
    "starting": "The trainer is reading its rows and loading the model.",
    "saving": "The trainer is saving a checkpoint.",
    "measuring": "The trainer measures held-out problems.",
}


def waits_for(job: TrainingJob, runs: Mapping[str, int]) -> list[str]:
    """Sentences about what the job waits for; empty where it waits for nothing. `runs`: its own runs by status."""
    if job.state == JobState.QUEUED:
        return [_place(job)]
    if not job.is_under_way or job.is_stopping:
        return []
    state = trainer_state(job.folder)
    if state is None or state.attempt < job.attempt:
        return ["The trainer is starting."]
    if state.state in TRAINER:
        return [TRAINER[state.state]]
    return list(_rows(job, runs, rows_unread(job.folder, state))) if job.rollouts and state.state == "running" else []


def comparison_waits(one: Comparison) -> str:
    """Why a comparison on a toy has not started; empty where it has, or will within seconds."""
    if one.state != ComparisonState.QUEUED or not (busy := _trained_now()):
        return ""
    return f"The comparison is waiting for the train worker, which is busy with {', '.join(busy)}."


def _trained_now() -> list[str]:
    return list(TrainingJob.objects.filter(under_way()).order_by("started_at").values_list("title", flat=True)[:3])


def _place(job: TrainingJob) -> str:
    ahead = TrainingJob.objects.filter(state=JobState.QUEUED, queued_at__lt=job.queued_at).count()
    if busy := _trained_now():
        before = f" behind {_counted(ahead, 'other job')}" if ahead else ""
        return f"Waiting for a device{before}: {', '.join(busy)} {'is' if len(busy) == 1 else 'are'} being trained."
    return f"{_counted(ahead, 'job')} ahead in the queue." if ahead else "The train worker will start it within seconds."


def _rows(job: TrainingJob, runs: Mapping[str, int], unread: int) -> Iterator[str]:
    """Why the next step has too few rows; nothing where it has enough or no more will come."""
    state = producer_state(job.folder)
    needed = rows_per_step({"recipe": job.recipe, **job.config})
    if state.get("state") == "ended" or unread >= needed:
        return
    yield f"Step {job.step + 1:,} is waiting for rows: {unread:,} of {needed:,} are ready."
    yield from _runs(job, runs)
    if waiting := _number(state, "waiting"):
        yield f"{_counted(waiting, 'group')} {_are(waiting)} incomplete."
    if silent := _number(state, "silent"):
        yield (
            f"{_counted(silent, 'complete group')} gave no rows, because all answers in {'it' if silent == 1 else 'each'}"
            " earned the same."
        )


def _runs(job: TrainingJob, runs: Mapping[str, int]) -> Iterator[str]:
    live = sum(runs.get(status, 0) for status in LIVE)
    if not live:
        yield "No runs are under way; the next ones will start within seconds."
        return
    size = plan_of(job.rollouts).runs_a_group
    yield f"{_counted(live, 'run')} {_are(live)} under way; each group compares {_counted(size, 'run')} on a problem."
    if queued := runs.get(RunStatus.QUEUED, 0):
        yield f"{queued:,} of them {_are(queued)} waiting for an orchestrator."
    if paused := runs.get(RunStatus.PAUSED, 0):
        yield f"{paused:,} of them {_are(paused)} paused by a user."


def _number(state: Mapping[str, object], name: str) -> int:
    found = state.get(name)
    return found if isinstance(found, int) else 0


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
