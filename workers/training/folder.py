"""The folder of a job, from the trainer's side: state, heartbeat, metrics and samples. Standard library only.

On several devices only the main process has a folder; the others train along.
"""

import json
import math
import os
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from workers.training.problems import Reason

State = Literal["starting", "tokenising", "running", "saving", "finished", "stopped", "failed"]
EXIT = {"finished": 0, "failed": 1, "stopped": 3}
BEAT = 2.0


@dataclass(frozen=True)
class Standing:
    """What `state.json` says."""

    state: State = "starting"
    reason: Reason | None = None
    message: str = ""
    step: int = 0
    steps: int = 0
    attempt: int = 1
    checkpoint: str | None = None
    pid: int = 0
    reading: str = ""
    held: int = 0
    started: float = 0.0
    updated: float = 0.0
    format: int = 1


def replace_file(path: Path, text: str) -> None:
    """Writes a file in one step: a reader sees the old or the new one, never a part."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


class JobFolder:
    """Writes what the starter reads. Every method may be called from any thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoints = path / "checkpoints"
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self.standing = self._next_standing()
        self._began = time.monotonic()

    def _next_standing(self) -> Standing:
        """A fresh start, or the next attempt of a folder that has been tried before."""
        attempt = 1
        try:
            attempt += int(json.loads((self.path / "state.json").read_text(encoding="utf-8"))["attempt"])
        except (OSError, ValueError, KeyError, TypeError):
            attempt = 1
        return Standing(attempt=attempt, pid=os.getpid(), started=time.time())

    def tell(self, **changes: Any) -> None:
        """Changes the state and writes it. Raises OSError where the disk is full."""
        with self._lock:
            self.standing = replace(self.standing, updated=time.time(), **changes)
            replace_file(self.path / "state.json", json.dumps(asdict(self.standing), ensure_ascii=False) + "\n")

    def begin_beating(self) -> None:
        """Starts the heartbeat; the thread ends with the process, or with `end_beating`."""
        threading.Thread(target=self._beat, name="heartbeat", daemon=True).start()

    def end_beating(self) -> None:
        """Ends the heartbeat."""
        self._ended.set()

    def _beat(self) -> None:
        while True:
            said = {"time": time.time(), "step": self.standing.step, "pid": os.getpid()}
            with suppress(OSError):  # A full disk ends the job at its next checkpoint, with a reason; the heart goes on trying.
                replace_file(self.path / "heartbeat.json", json.dumps(said) + "\n")
            if self._ended.wait(BEAT):
                return

    def measure(self, step: int, values: Mapping[str, float]) -> None:
        """Appends one line of metrics. Numbers that are not finite are left out: JSON has none."""
        head = {
            "step": step,
            "time": round(time.monotonic() - self._began, 3),
            "clock": time.time(),
            "attempt": self.standing.attempt,
        }
        kept = {name: value for name, value in values.items() if math.isfinite(value)}
        self._append("metrics.jsonl", [head | kept])

    def show(self, step: int, samples: Iterable[Mapping[str, Any]]) -> None:
        """Appends rows as text, to browse."""
        self._append("samples.jsonl", [{"step": step, "attempt": self.standing.attempt, **sample} for sample in samples])

    def _append(self, name: str, lines: Iterable[Mapping[str, Any]]) -> None:
        text = "".join(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in lines)
        path = self.path / name
        with self._lock, path.open("ab") as file:
            file.write(b"" if _ends_well(path) else b"\n")
            file.write(text.encode())
            file.flush()


def _ends_well(path: Path) -> bool:
    """Whether the last line is whole: a process that was killed may have left half of one."""
    if not path.stat().st_size:
        return True
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
