"""Why a job cannot go on, each with the word that stands in its state file."""

import errno
import shutil
from pathlib import Path
from typing import Literal

from workers.learning.arrays import NotLearnable
from workers.learning.rows import Leak

Reason = Literal[
    "bad_config",
    "bad_rows",
    "nothing_to_learn",
    "other_tokenizer",
    "other_architecture",
    "leak",
    "not_a_number",
    "disk_full",
    "out_of_memory",
    "device_lost",
    "no_rows",
    "crashed",
]


class JobProblem(Exception):
    """The job ends as failed. The message is for people; `reason` is the word for programs."""

    reason: Reason = "crashed"


class BadConfig(JobProblem):
    """`config.json` asks for something that does not exist or cannot be."""

    reason: Reason = "bad_config"


class BadRows(JobProblem):
    """A shard or a row cannot be read."""

    reason: Reason = "bad_rows"


class OtherTokenizer(JobProblem):
    """The rows were written with another tokenizer or chat template than the base model's."""

    reason: Reason = "other_tokenizer"


def check_tokenizers(recorded: str | None, own: str) -> None:
    """Raises `OtherTokenizer` where rows were written with another tokenizer than the base's, naming both by their hashes."""
    if recorded and own and recorded != own:
        raise OtherTokenizer(
            f"The rows were written with the tokenizer {recorded[:12]}…, the base model has {own[:12]}…;"
            " token ids would mean other text."
        )


class OtherArchitecture(JobProblem):
    """A checkpoint does not fit the base model of the job."""

    reason: Reason = "other_architecture"


class NotANumber(JobProblem):
    """The loss or the gradient became NaN or infinite."""

    reason: Reason = "not_a_number"


class NoRows(JobProblem):
    """A stream brought no rows for too long."""

    reason: Reason = "no_rows"


#: What torch and safetensors say of a file that could not be written to its end.
_CUT_OFF = ("inline_container", "pytorchstreamwriter", "unexpected pos", "file write failed", "i/o error")
#: A disk with so little room is full: what could not be written to its end still lies there when this is asked.
LITTLE_ROOM = 8 * 1024 * 1024
_LOST = ("device-side", "cudaerror", "cuda error", "no cuda-capable device", "ecc error", "nvml")


def explain(error: BaseException, folder: Path | None = None) -> tuple[Reason, str]:
    """The word and the sentence for an error that ended a job, which writes into `folder`."""
    if isinstance(error, JobProblem):
        return error.reason, str(error)
    if isinstance(error, Leak):
        return "leak", str(error)
    if isinstance(error, NotLearnable):
        return "nothing_to_learn", str(error)
    found = _disk_full(error, folder)
    if found is not None:
        return "disk_full", f"No space is left on the disk{found}; the last complete checkpoint is kept."
    said = f"{type(error).__name__}: {error}".strip().splitlines()[-1]
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError" or "out of memory" in said.lower():
        return "out_of_memory", f"Memory did not suffice ({said}). Take fewer micro_rows or a shorter longest completion."
    if any(sign in said.lower() for sign in _LOST):
        return "device_lost", f"The device stopped answering ({said}). Resume when it is back."
    return "crashed", said


def _disk_full(error: BaseException, folder: Path | None) -> str | None:
    """Where the disk is full, looked for along the causes; libraries in other languages tell it in words only.

    torch's writer tells of a file that ends too early instead; then the disk itself is asked.
    """
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, OSError) and seen.errno in (errno.ENOSPC, errno.EDQUOT):
            return f" ({seen.filename})" if seen.filename else ""
        if "no space left on device" in str(seen).lower():
            return ""
        if folder is not None and any(sign in str(seen).lower() for sign in _CUT_OFF) and _room(folder) < LITTLE_ROOM:
            return f" ({folder})"
        seen = seen.__cause__ or seen.__context__
    return None


def _room(folder: Path) -> int:
    """Bytes that are free where a folder is; plenty where nobody can say."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return LITTLE_ROOM
