"""Errors that end a job, each with its reason code for the state file."""

import errno
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.rows import Leak

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
    "process_lost",
    "no_rows",
    "crashed",
]


class JobProblem(Exception):
    """The job ends as failed. The message is for users, `reason` is the code for programs."""

    reason: Reason = "crashed"


class BadConfig(JobProblem):
    """`config.json` is invalid or names something that does not exist."""

    reason: Reason = "bad_config"


class BadRows(JobProblem):
    """A shard or a row cannot be read."""

    reason: Reason = "bad_rows"


class OtherTokenizer(JobProblem):
    """The rows were written with another tokenizer or chat template than the base model's."""

    reason: Reason = "other_tokenizer"


def check_tokenizers(recorded: str | None, own: str) -> None:
    """Raise `OtherTokenizer`, naming both hashes, where rows were written with another tokenizer than the base's."""
    if recorded and own and recorded != own:
        raise OtherTokenizer(
            f"The rows were written with the tokenizer {recorded[:12]}…, but the base model has {own[:12]}…;"
            " their token ids would mean other text."
        )


def check_dataset(dataset: Mapping[str, Any], *, temperature: float | None, template: str | None) -> None:
    """Raise `BadConfig` where rows were scored at another temperature, or written with another chat template. None: any.

    The recorded hash covers a template with its variables; the base's has none. So a job may accept any template.
    """
    scored_at, wrote = dataset.get("temperature"), dataset.get("chat_template")
    if scored_at is not None and temperature is not None and abs(float(scored_at) - temperature) > 1e-6:
        raise BadConfig(
            f"The log-probabilities of the rows belong to temperature {scored_at:g}, but “temperature” is {temperature:g}: all"
            f" ratios would be wrong. Use {scored_at:g}."
        )
    if wrote and template and wrote != template:
        raise BadConfig(
            f"The rows were written with the chat template {wrote[:12]}…, but the base model has {template[:12]}…. After"
            " training it gets prompts unlike these. If that is meant, or only variables were set, use “any_template” true."
        )


class OtherArchitecture(JobProblem):
    """A checkpoint does not fit the base model of the job."""

    reason: Reason = "other_architecture"


class NotANumber(JobProblem):
    """The loss or the gradient became NaN or infinite."""

    reason: Reason = "not_a_number"


class ProcessLost(JobProblem):
    """Another process of the job has died."""

    reason: Reason = "process_lost"


class NoRows(JobProblem):
    """A stream had no new rows for too long."""

    reason: Reason = "no_rows"


#: Phrases of torch and safetensors about an incompletely written file.
_CUT_OFF = ("inline_container", "pytorchstreamwriter", "unexpected pos", "file write failed", "i/o error")
#: A disk with less free space than this, in bytes, is full: the incomplete file is still there.
LITTLE_ROOM = 8 * 1024 * 1024
_LOST = (
    "device-side",
    "cudaerror",
    "cuda error",
    "cuda failure",
    "no cuda-capable device",
    "ecc error",
    "nvml",
    "gpu is lost",
    "fallen off the bus",
)


def explain(error: BaseException, folder: Path | None = None) -> tuple[Reason, str]:
    """Reason code and message of an error that ended a job, which writes to `folder`."""
    if isinstance(error, JobProblem):
        return error.reason, str(error)
    if isinstance(error, Leak):
        return "leak", str(error)
    if isinstance(error, NotLearnable):
        return "nothing_to_learn", str(error)
    found = _disk_full(error, folder)
    if found is not None:
        return "disk_full", f"The disk is full{found}. The last complete checkpoint is kept."
    text = f"{type(error).__name__}: {error}".strip().splitlines()[-1]
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError" or "out of memory" in text.lower():
        return "out_of_memory", f"Out of memory ({text}). Use fewer micro_rows or shorter completions."
    whole = str(error).strip()
    if any(sign in whole.lower() for sign in _LOST):
        first = whole.splitlines()[0]  # Advice for programmers follows.
        return "device_lost", f"The device stopped responding ({first}). Resume when it is available again."
    return "crashed", text


def _disk_full(error: BaseException, folder: Path | None) -> str | None:
    """Location in words (may be empty) if the error or one of its causes is a full disk, else None.

    Native libraries report it as text only. torch's writer reports an incomplete file instead; then the free space decides.
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
    """Free bytes on a folder's disk; `LITTLE_ROOM`, which counts as enough, where they are unknown."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return LITTLE_ROOM
