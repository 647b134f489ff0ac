"""Trainer processes: start one, and signal it together with all its child processes.

A trainer leads its own session, so it outlives the worker that started it. It inherits the lock of its folder, so no second
trainer can start there while it is running.
"""

import logging
import os
import shlex
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from apps.datasets.versions.commit import git_commit
from apps.learning.jobs.folders import TRAINER_LOCK, locked

logger = logging.getLogger(__name__)
COMMIT = "LEMMASCOPE_COMMIT"
TRACKERS = "LEMMASCOPE_TRACKERS"
SHARD = "LEMMASCOPE_SHARD"
#: Seconds that torch's launcher leaves its processes after a signal; its own 30 are too few for a large checkpoint.
LAUNCHER_GRACE = "TORCH_ELASTIC_SHUTDOWN_TIMEOUT"
#: Environment variables passed to a trainer: no keys, no addresses of a database or broker. Those of Hugging Face have keys
#: among them (HF_TOKEN), so only those that name folders pass.
KNOWN = (
    *("PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CC", "CXX"),
    *("HF_HOME", "HF_HUB_CACHE", "HF_ASSETS_CACHE", "HF_DATASETS_CACHE", "HF_MODULES_CACHE", "HF_XET_CACHE"),
)
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
    "ACCELERATE_",
    "XDG_",
)


class TrainerMissing(Exception):
    """The trainer's environment is missing; the message says how to install it."""


class FolderBusy(Exception):
    """Another trainer holds the folder."""


def python() -> Path:
    """Python interpreter of the trainer's environment. Raises `TrainerMissing`."""
    found = Path(settings.TRAIN_PYTHON)
    if not os.access(found, os.X_OK):
        raise TrainerMissing(
            f"The trainer's environment is missing ({found}). Install it with `make setup-train` (about 1.5 GB, once),"
            " or set TRAIN_PYTHON."
        )
    return found


def command(folder: Path, *, resume: bool) -> list[str]:
    """Command line that trains a job. Raises `TrainerMissing`."""
    launcher = shlex.split(settings.TRAIN_LAUNCHER)
    return [str(python()), *launcher, "-m", "workers.training", "--job", str(folder), *(["--resume"] if resume else [])]


def environment(device: str = "") -> dict[str, str]:
    """Environment variables of a trainer: those that locate devices and libraries, and no secrets.

    `device`: one entry of `TRAIN_DEVICES`. Without a launcher a trainer is one process, and TRL uses one GPU per process. It
    sees the first GPU of `device`, else of `CUDA_VISIBLE_DEVICES`, else of the machine.
    """
    known = {name: value for name, value in os.environ.items() if name in KNOWN or name.startswith(KNOWN_PREFIXES)}
    visible = device or known.get("CUDA_VISIBLE_DEVICES", "" if settings.TRAIN_LAUNCHER else "0")
    if not settings.TRAIN_LAUNCHER:
        visible = visible.split(",")[0]
    chosen = {"CUDA_VISIBLE_DEVICES": visible} if visible or "CUDA_VISIBLE_DEVICES" in known else {}
    fixed = {"PYTHONUNBUFFERED": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", COMMIT: git_commit()}
    fixed |= {TRACKERS: ",".join(settings.TRAIN_TRACKERS), SHARD: settings.TRAIN_SHARD}
    fixed[LAUNCHER_GRACE] = str(round(settings.TRAIN_GRACE_S))
    return known | fixed | chosen


def start(folder: Path, *, resume: bool, device: str = "") -> "subprocess.Popen[bytes]":
    """Start a trainer on a folder. Raises `TrainerMissing`, `FolderBusy`, OSError."""
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


def signal_group(leader: int, number: signal.Signals) -> None:
    """Send a signal to a trainer and all its child processes; ignored where they have ended."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)
