"""How a training job ended, in a word and in a sentence for people."""

import signal
from dataclasses import dataclass

from apps.learning.folders import Said, log_tail
from apps.learning.models import JobState, TrainingJob

#: What to do about each reason that the trainer gives; its own message says what happened.
ADVICE = {
    "bad_config": "Start another job with other settings.",
    "bad_rows": "Make another version of the dataset.",
    "nothing_to_learn": "Take rows whose rewards differ, or another recipe.",
    "other_tokenizer": "Train the model that wrote the rows, or make rows with this one.",
    "other_architecture": "Start a new job: this one's checkpoints do not fit.",
    "leak": "Rows for tests must never be trained on; make a dataset without them.",
    "not_a_number": "Nothing of that step was kept. Resume with a lower learning rate in a new job, from the last checkpoint.",
    "disk_full": "Make room on the disk, then resume.",
    "out_of_memory": "Start a job with fewer rows at once, or shorter ones.",
    "device_lost": "Resume when the device is back.",
    "no_rows": "Resume when rows come again.",
    "no_runs": "Mend what the reason names, then resume: what was played is kept.",
    "no_trainer": "Install it, then resume.",
    "busy": "Resume when it has ended.",
    "crashed": "The log below may say more.",
    "killed": "Resume: it goes on from its last checkpoint.",
}
#: Reasons that lie in the job itself: resumed as it is, it would end the same way.
IN_VAIN = ("bad_config", "bad_rows", "nothing_to_learn", "other_tokenizer", "other_architecture", "leak")


@dataclass(frozen=True)
class End:
    """The state a job ends in, with the trainer's or our word for the reason. `queued`: it goes on by itself."""

    state: JobState
    reason: str = ""
    message: str = ""


def end_of(job: TrainingJob, told: Said | None, status: int | None, *, asked: bool, killed: bool, goes_on: bool) -> End:
    """What the trainer said, where it did; else what its exit status says (None: it was nobody's child any more).

    `asked`: somebody asked it to stop. `killed`: it did not in time. `goes_on`: a stop that nobody asked for was ours.
    """
    if told is None or told.attempt < job.attempt:
        return _end_in_silence(job, status, asked=asked)
    if told.state == "finished":
        return End(JobState.FINISHED, message=told.message)
    if told.state == "failed":
        return End(JobState.FAILED, told.reason or "crashed", told.message)
    kept = f"step {told.checkpoint.rpartition('-')[2]}" if told.checkpoint else "the beginning"
    if told.state == "stopped":
        if asked:
            return End(JobState.STOPPED, message=f"Stopped as asked; it goes on from {kept} when resumed.")
        if goes_on:
            return End(JobState.QUEUED, message=f"The worker was stopped meanwhile; it goes on from {kept} by itself.")
        return End(JobState.STOPPED, message=f"A signal from outside stopped it; it goes on from {kept} when resumed.")
    if killed:
        late = "It did not save in time and was killed"
        if asked:
            return End(JobState.STOPPED, "killed", f"{late}; it goes on from {kept} when resumed.")
        return End(JobState.QUEUED, message=f"{late} when the worker was stopped; it goes on from {kept} by itself.")
    if status is not None and status > 0:
        return _end_by_status(job, status)
    how = f"was killed ({signal.Signals(-status).name})" if status else "is gone without a word"
    return End(JobState.LOST, "killed", f"The trainer {how} at step {told.step}; it goes on from {kept} when resumed.")


def _end_in_silence(job: TrainingJob, status: int | None, *, asked: bool) -> End:
    if asked:
        return End(JobState.STOPPED, message="Stopped before it began.")
    if status is None or status < 0:
        return End(JobState.LOST, "killed", "The trainer was killed before it said anything.")
    return _end_by_status(job, status)


def _end_by_status(job: TrainingJob, status: int) -> End:
    lines = [line.strip() for line in log_tail(job.folder) if line.strip()]
    last = lines[-1][:500] if lines else "its log is empty"
    if any("no space left on device" in line.lower() for line in lines):
        return End(
            JobState.FAILED, "disk_full", f"No space is left on the disk; the last complete checkpoint is kept ({last})."
        )
    return End(JobState.FAILED, "crashed", f"The trainer ended with status {status} and did not say why: {last}")
