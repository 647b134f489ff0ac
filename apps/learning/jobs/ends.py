"""End of a training job: its state, its reason and a message for the user."""

import signal
from dataclasses import dataclass

from apps.learning.jobs.folders import TrainerState, log_tail
from apps.learning.models import JobState, TrainingJob

#: Advice for each reason that a trainer gives; its own message says what happened.
ADVICE = {
    "bad_config": "Start a new job with other settings.",
    "bad_rows": "Make a new version of the dataset.",
    "nothing_to_learn": "Choose rows whose rewards differ, or another recipe.",
    "other_tokenizer": "Train the model that wrote the rows, or make rows with this model.",
    "other_architecture": "Start a new job; this job's checkpoints do not fit the model.",
    "leak": "Test problems must never be trained on. Make a dataset without them.",
    "not_a_number": "That step was discarded. Start a new job from the last checkpoint with a lower learning rate.",
    "disk_full": "Free disk space, then resume.",
    "out_of_memory": "Start a job with fewer rows at once, or shorter rows.",
    "device_lost": "Resume when the device is available again.",
    "process_lost": "Resume to continue from the last checkpoint.",
    "no_rows": "Resume when new rows arrive.",
    "no_runs": "Fix the cause above, then resume. Finished runs are kept.",
    "no_trainer": "Install the trainer, then resume.",
    "busy": "Resume when the other trainer has ended.",
    "crashed": "See the log below for details.",
    "killed": "Resume to continue from the last checkpoint.",
}
#: Reasons in the job itself: if resumed, it would end the same way.
NEEDS_A_NEW_JOB = ("bad_config", "bad_rows", "nothing_to_learn", "other_tokenizer", "other_architecture", "leak")


@dataclass(frozen=True)
class End:
    """Final state of a job, with the trainer's or our reason. `queued`: a worker resumes it automatically."""

    state: JobState
    reason: str = ""
    message: str = ""


def end_of(
    job: TrainingJob, state: TrainerState | None, status: int | None, *, asked: bool, killed: bool, is_ours: bool
) -> End:
    """End of a job by the trainer's state, else by its exit status (None: the trainer was not our child process).

    `asked`: a user asked it to stop. `killed`: it did not stop in time. `is_ours`: a stop that no user asked for was ours.
    """
    if state is None or state.attempt < job.attempt:
        return _end_without_state(job, status, asked=asked)
    if state.state == "finished":
        return End(JobState.FINISHED, message=state.message)
    if state.state == "failed":
        return End(JobState.FAILED, state.reason or "crashed", state.message)
    kept = f"step {state.checkpoint.rpartition('-')[2]}" if state.checkpoint else "the beginning"
    if state.state == "stopped":
        if asked:
            return End(JobState.STOPPED, message=f"Stopped on request. Resume to continue from {kept}.")
        if is_ours:
            return End(JobState.QUEUED, message=f"The worker was stopped. The job will continue from {kept} automatically.")
        return End(JobState.STOPPED, message=f"Stopped by an external signal. Resume to continue from {kept}.")
    if killed:
        late = "The trainer did not save in time and was killed"
        if asked:
            return End(JobState.STOPPED, "killed", f"{late}. Resume to continue from {kept}.")
        return End(JobState.QUEUED, message=f"{late} when the worker stopped. The job will continue from {kept} automatically.")
    if status is not None and status > 0:
        return _end_by_status(job, status)
    how = f"was killed ({signal.Signals(-status).name})" if status else "ended without a message"
    return End(JobState.LOST, "killed", f"The trainer {how} at step {state.step}. Resume to continue from {kept}.")


def _end_without_state(job: TrainingJob, status: int | None, *, asked: bool) -> End:
    if asked:
        return End(JobState.STOPPED, message="Stopped before it started.")
    if status is None or status < 0:
        return End(JobState.LOST, "killed", "The trainer was killed before it reported anything.")
    return _end_by_status(job, status)


def _end_by_status(job: TrainingJob, status: int) -> End:
    lines = [line.strip() for line in log_tail(job.folder) if line.strip()]
    last = lines[-1][:500] if lines else "its log is empty"
    if any("no space left on device" in line.lower() for line in lines):
        return End(JobState.FAILED, "disk_full", f"The disk is full. The last complete checkpoint is kept ({last}).")
    return End(JobState.FAILED, "crashed", f"The trainer ended with status {status} without giving a reason: {last}")
