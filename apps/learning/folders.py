"""A training job's folder from the starter's side: what the trainer says, and what it is given. docs/learning_jobs.md.

Everything here is read while somebody writes it: what cannot be read yet counts as not said yet.
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

#: A trainer beats every 2 s; silent for so long and gone, it is lost.
LOST_AFTER_S = 60.0
LOG_TAIL = 16_384
DRIVER_LOCK, TRAINER_LOCK = "driver.lock", "trainer.lock"
TEXTS = "texts.jsonl"
_STATES = frozenset({"starting", "tokenising", "running", "saving", "finished", "stopped", "failed"})


@dataclass(frozen=True)
class Said:
    """What `state.json` says."""

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
        """The trainer came to an end by itself and said which."""
        return self.state in ("finished", "stopped", "failed")


def said(folder: Path) -> Said | None:
    """The trainer's state; None where there is none, or none that can be read."""
    found = _read_json(folder / "state.json")
    if found is None or found.get("state") not in _STATES:
        return None
    try:
        return Said(
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
    """Seconds since the last heartbeat; None where there was none."""
    found = _read_json(folder / "heartbeat.json")
    try:
        return None if found is None else max(0.0, time.time() - float(found["time"]))
    except (KeyError, TypeError, ValueError):
        return None


def attempt_silent_for(folder: Path, started_at: datetime | None) -> float | None:
    """Seconds since a trainer was last heard of; the heartbeat of an attempt before `started_at` says nothing of this one."""
    silent = silent_for(folder)
    if silent is None or started_at is None:
        return silent
    return min(silent, max(0.0, time.time() - started_at.timestamp()))


def log_tail(folder: Path, most: int = LOG_TAIL) -> list[str]:
    """The last lines of what the trainer printed, at most `most` bytes of them."""
    try:
        with (folder / "log.txt").open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - most))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    return lines[1:] if size > most else lines


def prepare(folder: Path, config: Mapping[str, Any], given: Path | None) -> None:
    """Writes `config.json` and links what it learns from, once; a folder that has its configuration is left alone.

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
    beside = folder / ".config.json.new"
    beside.write_text(json.dumps(config, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    beside.replace(folder / "config.json")


def _link(source: Path, target: Path) -> None:
    """A second name of the same file; a copy where the disk is another."""
    target.unlink(missing_ok=True)
    try:
        target.hardlink_to(source)
    except OSError:
        beside = target.with_name(f".{target.name}.new")
        shutil.copyfile(source, beside)
        beside.replace(target)


@contextmanager
def locked(path: Path) -> Iterator[int | None]:
    """The file's lock as a descriptor, None where another process has it. It goes with the last process that inherited it."""
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


def trainer_lives(folder: Path) -> bool:
    """Whether a trainer that was started by us still holds this folder, whoever started it."""
    with locked(folder / TRAINER_LOCK) as free:
        return free is None


def checkpoint_steps(folder: Path) -> list[int]:
    """The steps of the complete checkpoints, oldest first."""
    found = (folder / "checkpoints").glob("checkpoint-*/manifest.json")
    numbers = [path.parent.name.removeprefix("checkpoint-") for path in found]
    return sorted(int(number) for number in numbers if number.isdecimal())


def checkpoint_folder(folder: Path, step: int) -> Path:
    """Where the checkpoint of a step lies."""
    return folder / "checkpoints" / f"checkpoint-{step}"


def replaced(path: Path, text: str) -> None:
    """Writes a small file so that whoever reads it meets the old text or the new one."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def _read_json(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
