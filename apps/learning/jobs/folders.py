"""Folder of a training job, as its driver uses it: the trainer's state and input. See docs/learning_jobs.md.

The trainer may be writing while we read: an unreadable file counts as not written yet.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

#: A trainer sends a heartbeat every 2 s. Without a process and after this silence, it is lost.
LOST_AFTER_S = 60.0
LOG_TAIL = 16_384
DRIVER_LOCK, TRAINER_LOCK = "driver.lock", "trainer.lock"
TEXTS = "texts.jsonl"
_STATES = frozenset({"starting", "tokenising", "running", "saving", "measuring", "finished", "stopped", "failed"})


@dataclass(frozen=True)
class TrainerState:
    """Content of `state.json`."""

    state: str
    reason: str = ""
    message: str = ""
    step: int = 0
    attempt: int = 0
    checkpoint: str = ""
    pid: int = 0
    reading: str = ""
    held: int = 0

    @property
    def has_ended(self) -> bool:
        """Whether the trainer ended by itself and recorded how."""
        return self.state in ("finished", "stopped", "failed")


def trainer_state(folder: Path) -> TrainerState | None:
    """State of the trainer; None where it is missing or unreadable."""
    found = _read_json(folder / "state.json")
    if found is None or found.get("state") not in _STATES:
        return None
    try:
        return TrainerState(
            state=str(found["state"]),
            reason=str(found.get("reason") or ""),
            message=str(found.get("message") or ""),
            step=max(0, int(found.get("step") or 0)),
            attempt=max(0, int(found.get("attempt") or 0)),
            checkpoint=str(found.get("checkpoint") or ""),
            pid=max(0, int(found.get("pid") or 0)),
            reading=str(found.get("reading") or ""),
            held=max(0, int(found.get("held") or 0)),
        )
    except (TypeError, ValueError):
        return None


def silent_for(folder: Path) -> float | None:
    """Seconds since the last heartbeat; None without a heartbeat."""
    found = _read_json(folder / "heartbeat.json")
    try:
        return None if found is None else max(0.0, time.time() - float(found["time"]))
    except (KeyError, TypeError, ValueError):
        return None


def attempt_silent_for(folder: Path, started_at: datetime | None) -> float | None:
    """Seconds since the last heartbeat of the attempt that began at `started_at`, or since its start."""
    silent = silent_for(folder)
    if silent is None or started_at is None:
        return silent
    return min(silent, max(0.0, time.time() - started_at.timestamp()))


def log_tail(folder: Path, most: int = LOG_TAIL) -> list[str]:
    """Last lines of the trainer's log, at most `most` bytes."""
    try:
        with (folder / "log.txt").open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - most))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    return lines[1:] if size > most else lines


def prepare(folder: Path, config: Mapping[str, Any], given: Path | None) -> None:
    """Write `config.json` and link the training data, unless the folder has its configuration already.

    `given` is a folder of rows, or a file of texts. Raises OSError.
    """
    if (folder / "config.json").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    if given is not None and given.name == TEXTS:
        _link(given, folder / TEXTS)
    elif given is not None:
        (folder / "rows").mkdir(exist_ok=True)
        for shard in sorted(given.glob("*.parquet")):
            _link(shard, folder / "rows" / shard.name)
    temporary = folder / ".config.json.new"
    temporary.write_text(json.dumps(config, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    temporary.replace(folder / "config.json")


def _link(source: Path, target: Path) -> None:
    """Hard-link a file, or copy it where the target is on another disk."""
    target.unlink(missing_ok=True)
    try:
        target.hardlink_to(source)
    except OSError:
        temporary = target.with_name(f".{target.name}.new")
        shutil.copyfile(source, temporary)
        temporary.replace(target)


@contextmanager
def locked(path: Path) -> Iterator[int | None]:
    """Lock a file and yield its descriptor; None where another process holds the lock.

    The lock is released when the last process that inherited the descriptor ends.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
        else:
            yield descriptor
    finally:
        with suppress(OSError):
            os.close(descriptor)


def trainer_is_running(folder: Path) -> bool:
    """Whether a trainer holds this folder, whichever worker started it."""
    with locked(folder / TRAINER_LOCK) as free:
        return free is None


def checkpoint_steps(folder: Path) -> list[int]:
    """Steps of the complete checkpoints, oldest first."""
    found = (folder / "checkpoints").glob("checkpoint-*/manifest.json")
    numbers = [path.parent.name.removeprefix("checkpoint-") for path in found]
    return sorted(int(number) for number in numbers if number.isdecimal())


def checkpoint_folder(folder: Path, step: int) -> Path:
    """Folder of a step's checkpoint."""
    return folder / "checkpoints" / f"checkpoint-{step}"


def replace_text(path: Path, text: str) -> None:
    """Write a small file atomically: readers get the old text or the new one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def _read_json(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
