"""The trainer as a process of its own: how it is started, how it is told to stop, and that it is killed with all it started.

It leads a session of its own, so it outlives whoever started it. It inherits the lock of its folder: as long as it lives, in
whichever process group, nobody can start a second one there.
"""

import logging
import os
import shlex
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from apps.datasets.manifest import git_commit
from apps.learning.folders import TRAINER_LOCK, locked

logger = logging.getLogger(__name__)
COMMIT = "LEMMASCOPE_COMMIT"
#: What a trainer may know of our environment: no key, no address of a database or broker.
KNOWN = ("PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CC", "CXX")
KNOWN_PREFIXES = (
    "LC_",
    "CUDA_",
    "NVIDIA_",
    "NCCL_",
    "GLOO_",
    "OMP_",
    "MKL_",
    "TORCH",
    "PYTORCH_",
    "TRITON_",
    "HF_",
    "ACCELERATE_",
    "XDG_",
)


class TrainerMissing(Exception):
    """The trainer's environment is not there; the message says how to make it."""


class FolderBusy(Exception):
    """A trainer still holds the folder."""


def python() -> Path:
    """The interpreter of the trainer's environment. Raises `TrainerMissing`."""
    found = Path(settings.TRAIN_PYTHON)
    if not os.access(found, os.X_OK):
        raise TrainerMissing(
            f"The trainer's environment is not there ({found}). `make setup-train` installs it (about 1.5 GB, once);"
            " TRAIN_PYTHON names another."
        )
    return found


def command(folder: Path, *, resume: bool) -> list[str]:
    """How a job is trained. Raises `TrainerMissing`."""
    launcher = shlex.split(settings.TRAIN_LAUNCHER)
    return [str(python()), *launcher, "-m", "workers.training", "--job", str(folder), *(["--resume"] if resume else [])]


def environment(device: str = "") -> dict[str, str]:
    """The variables that a trainer gets: what finds devices and libraries, and nothing of ours.

    `device`: one entry of `TRAIN_DEVICES`. Without a launcher a trainer is one process, which TRL lets use one GPU only, so it
    sees the first of its set: of `device`, else of `CUDA_VISIBLE_DEVICES`, else of the machine.
    """
    known = {name: value for name, value in os.environ.items() if name in KNOWN or name.startswith(KNOWN_PREFIXES)}
    visible = device or known.get("CUDA_VISIBLE_DEVICES", "" if settings.TRAIN_LAUNCHER else "0")
    if not settings.TRAIN_LAUNCHER:
        visible = visible.split(",")[0]
    chosen = {"CUDA_VISIBLE_DEVICES": visible} if visible or "CUDA_VISIBLE_DEVICES" in known else {}
    told = {"PYTHONUNBUFFERED": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", COMMIT: git_commit()}
    return known | told | chosen


def start(folder: Path, *, resume: bool, device: str = "") -> "subprocess.Popen[bytes]":
    """Starts a trainer on a folder. Raises `TrainerMissing`, `FolderBusy`, OSError."""
    line = command(folder, resume=resume)
    with locked(folder / TRAINER_LOCK) as lock:
        if lock is None:
            raise FolderBusy
        with (folder / "log.txt").open("ab") as log:
            return subprocess.Popen(  # noqa: S603  (the command comes from the settings)
                line,
                cwd=settings.BASE_DIR,
                env=environment(device),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=(lock,),
            )


def tell_group(leader: int, number: signal.Signals) -> None:
    """Sends a signal to a trainer and all it started; one that is gone needs none."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)
