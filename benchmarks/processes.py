"""The processes of a benchmark: the commands of apps/config/stack.py on the data folder of the stage, and what they cost.

Use after `stage.set_up`.
"""

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from apps.config.stack import programs
from apps.runs.streams import heartbeats, sync_client

ROOT = Path(__file__).resolve().parents[1]
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Processes:
    """Some programs of the stack by name: `valkey`, `inference`, `web`, `orchestrator`. Use as a context manager.

    `inference` is the celery application that answers calls.
    """

    def __init__(self, *names: str, folder: Path, inference: str = "benchmarks.answering") -> None:
        self._names = names
        self._folder = folder
        self._inference = inference
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Self:
        (self._folder / "run").mkdir(exist_ok=True)
        known = {program.name: program.command for program in programs()}
        try:
            for name in self._names:
                self._start(name, known[name])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self.running.values()):
            process.terminate()
        for process in reversed(self.running.values()):
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def cpu_s(self) -> dict[str, float]:
        """CPU seconds of each process until now, all threads, user and system."""
        return {name: _cpu_s(process.pid) for name, process in self.running.items()}

    def _start(self, name: str, command: Sequence[str]) -> None:
        command = [self._inference if part == "workers.worker" else part for part in command]
        with (self._folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        until = time.monotonic() + 60
        while not self._is_ready(name):
            if self.running[name].poll() is not None or time.monotonic() > until:
                raise SystemExit(f"{name} did not start:\n{(self._folder / f'{name}.log').read_text()[-2000:]}")
            time.sleep(0.05)

    def _is_ready(self, name: str) -> bool:
        try:
            if name == "valkey":
                return bool(sync_client().ping())
            if name == "inference":
                return bool(heartbeats(sync_client()))
            return name != "web" or _answers()
        except OSError:
            return False
        except Exception as error:
            if "redis" in type(error).__module__:
                return False
            raise


def _answers() -> bool:
    import urllib.request

    from django.conf import settings

    with urllib.request.urlopen(f"http://127.0.0.1:{settings.PORT}/healthz", timeout=2) as answer:
        return bool(answer.status == 200)


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S
