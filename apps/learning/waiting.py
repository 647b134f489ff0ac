"""What a job waits for just now, in plain sentences: a device, its trainer, the next rows."""

from collections.abc import Iterator, Mapping

from apps.learning.folders import said
from apps.learning.models import Comparison, ComparisonState, JobState, TrainingJob, under_way
from apps.learning.recipes import rows_per_step
from apps.learning.rollout_plan import plan_of
from apps.learning.rollouts import producer_said
from apps.learning.unread import rows_unread
from apps.runs.models import LIVE, RunStatus

#: What the trainer's own state means for who looks (docs/learning_jobs.md).
TRAINER = {
    "starting": "The trainer reads its rows and loads the model.",
    "saving": "A checkpoint is being written.",
}


def waits_for(job: TrainingJob, runs: Mapping[str, int]) -> list[str]:
    """Empty where it waits for nothing. `runs`: its own runs by status."""
    if job.state == JobState.QUEUED:
        return [_place(job)]
    if not job.is_under_way or job.is_stopping:
        return []
    told = said(job.folder)
    if told is None or told.attempt < job.attempt:
        return ["The trainer is being started."]
    if told.state in TRAINER:
        return [TRAINER[told.state]]
    return list(_rows(job, runs, rows_unread(job.folder, told))) if job.rollouts and told.state == "running" else []


def comparison_waits(one: Comparison) -> str:
    """Why a comparison on a toy has not begun; empty where it has, or begins within seconds."""
    if one.state != ComparisonState.QUEUED or not (busy := _trained_now()):
        return ""
    return f"It waits for the train worker, which is busy with {', '.join(busy)}."


def _trained_now() -> list[str]:
    return list(TrainingJob.objects.filter(under_way()).order_by("started_at").values_list("title", flat=True)[:3])


def _place(job: TrainingJob) -> str:
    ahead = TrainingJob.objects.filter(state=JobState.QUEUED, queued_at__lt=job.queued_at).count()
    if busy := _trained_now():
        before = f", after {_counted(ahead, 'job')} that came before" if ahead else ""
        return f"It waits for a device{before}: {', '.join(busy)} {'is' if len(busy) == 1 else 'are'} being trained."
    return f"{_counted(ahead, 'job')} came before it." if ahead else "The train worker takes it within seconds."


def _rows(job: TrainingJob, runs: Mapping[str, int], unread: int) -> Iterator[str]:
    """Why the next step has too few rows yet; nothing where it has enough or no more will come."""
    told = producer_said(job.folder)
    needed = rows_per_step({"recipe": job.recipe, **job.config})
    if told.get("state") == "ended" or unread >= needed:
        return
    yield f"Step {job.step + 1:,} waits for rows: {unread:,} of {needed:,} are there."
    yield from _runs(job, runs)
    if waiting := _number(told, "waiting"):
        yield f"{_counted(waiting, 'group')} {_are(waiting)} not whole yet."
    if silent := _number(told, "silent"):
        yield (
            f"{_counted(silent, 'whole group')} taught nothing, because all answers in {'it' if silent == 1 else 'each'} earned"
            " the same."
        )


def _runs(job: TrainingJob, runs: Mapping[str, int]) -> Iterator[str]:
    live = sum(runs.get(status, 0) for status in LIVE)
    if not live:
        yield "None of its runs is under way; the next ones begin within seconds."
        return
    size = plan_of(job.rollouts).runs_a_group
    yield f"{_counted(live, 'run')} {_are(live)} under way; {_counted(size, 'run')} on a problem are compared with each other."
    if queued := runs.get(RunStatus.QUEUED, 0):
        yield f"{queued:,} of them {'waits' if queued == 1 else 'wait'} for an orchestrator."
    if paused := runs.get(RunStatus.PAUSED, 0):
        yield f"{paused:,} of them {_are(paused)} paused by somebody."


def _number(told: Mapping[str, object], name: str) -> int:
    found = told.get(name)
    return found if isinstance(found, int) else 0


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
