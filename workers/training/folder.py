"""Folder of a job, as the trainer writes it: state, heartbeat, metrics and samples. Standard library only.

On several devices only the main process has a folder.
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

State = Literal["starting", "tokenising", "running", "saving", "measuring", "finished", "stopped", "failed"]
EXIT = {"finished": 0, "failed": 1, "stopped": 3}
BEAT = 2.0


@dataclass(frozen=True)
class FolderState:
    """Content of `state.json`."""

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
    """Write a file atomically: readers see the old or the new text, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


class JobFolder:
    """Writer of a job's folder. Every method is thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoints = path / "checkpoints"
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self.state = self._initial_state()
        self._began = time.monotonic()

    def _initial_state(self) -> FolderState:
        """State of the first attempt, or of the next one."""
        attempt = 1
        try:
            attempt += int(json.loads((self.path / "state.json").read_text(encoding="utf-8"))["attempt"])
        except (OSError, ValueError, KeyError, TypeError):
            attempt = 1
        return FolderState(attempt=attempt, pid=os.getpid(), started=time.time())

    def write_state(self, **changes: Any) -> None:
        """Change the state and write it. Raises OSError where the disk is full."""
        with self._lock:
            self.state = replace(self.state, updated=time.time(), **changes)
            replace_file(self.path / "state.json", json.dumps(asdict(self.state), ensure_ascii=False) + "\n")

    def start_heartbeat(self) -> None:
        """Start the heartbeat; the thread ends with the process, or with `stop_heartbeat`."""
        threading.Thread(target=self._beat, name="heartbeat", daemon=True).start()

    def stop_heartbeat(self) -> None:
        """Stop the heartbeat."""
        self._ended.set()

    def _beat(self) -> None:
        while True:
            beat = {"time": time.time(), "step": self.state.step, "pid": os.getpid()}
            with suppress(OSError):  # A full disk ends the job at its next checkpoint, with a reason; keep trying until then.
                replace_file(self.path / "heartbeat.json", json.dumps(beat) + "\n")
            if self._ended.wait(BEAT):
                return

    def write_metrics(self, step: int, values: Mapping[str, float]) -> None:
        """Append one line of metrics, without numbers that are not finite, which JSON lacks."""
        head = {
            "step": step,
            "time": round(time.monotonic() - self._began, 3),
            "clock": time.time(),
            "attempt": self.state.attempt,
        }
        kept = {name: value for name, value in values.items() if math.isfinite(value)}
        self._append("metrics.jsonl", [head | kept])

    def write_samples(self, step: int, samples: Iterable[Mapping[str, Any]]) -> None:
        """Append rows as text, for browsing."""
        self._append("samples.jsonl", [{"step": step, "attempt": self.state.attempt, **sample} for sample in samples])

    def _append(self, name: str, lines: Iterable[Mapping[str, Any]]) -> None:
        text = "".join(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in lines)
        path = self.path / name
        with self._lock, path.open("ab") as file:
            file.write(b"" if _ends_with_newline(path) else b"\n")
            file.write(text.encode())
            file.flush()


def _ends_with_newline(path: Path) -> bool:
    """Whether the last line is complete; a killed process may have left part of one."""
    if not path.stat().st_size:
        return True
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
