"""The processes of a benchmark, with the commands of apps/config/stack.py on the stage's data folder, and their cost.

Use after `stage.set_up`.
"""

import contextlib
import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Self

from django.conf import settings

from apps.config.stack import inference as inference_program
from apps.config.stack import programs
from apps.processes.streams import heartbeats, sync_client
from apps.reasoning.inference.aliases import load_aliases

ROOT = Path(__file__).resolve().parents[1]
WITHIN_S = 120
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Processes:
    """Some programs of the stack by name: `valkey`, `inference`, `web`, `orchestrator`. Use as a context manager.

    Several processes of one program are numbered: `inference/1`, `inference/2`. `inference` is the celery application that
    answers calls, `python` its interpreter.
    """

    def __init__(
        self, *names: str, folder: Path, inference: str = "benchmarks.engines.answering", python: str = sys.executable
    ) -> None:
        self._names = names
        self._folder = folder
        self._inference = inference
        self._python = python
        # Including models that only the environment of `python` can serve.
        enabled = [alias for alias in load_aliases(settings.MODELS_FILE).values() if alias.enabled]
        self._commands = {program.name: program.command for program in [*programs(), inference_program(enabled)]}
        self._ended_cpu_s: dict[str, float] = defaultdict(float)
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Self:
        (self._folder / "run").mkdir(exist_ok=True)
        try:
            for name in self._names:
                self.start(name)
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
        """CPU seconds of each process until now: all threads, user and system."""
        current = {name: _cpu_s(process.pid) for name, process in self.running.items()}
        return {name: seconds + self._ended_cpu_s[name] for name, seconds in current.items()}

    def below_s(self, name: str) -> float:
        """CPU seconds until now of all running descendants of a process."""
        return sum(map(_cpu_s, self._below(name)))

    def memory_mb(self, name: str) -> float:
        """Resident memory of a process and all its running descendants, in MB."""
        return sum(map(_memory_mb, {self.running[name].pid, *self._below(name)}))

    def _below(self, name: str) -> set[int]:
        """All running descendants of a process."""
        parents, pid = _parents(), self.running[name].pid
        below = {pid}
        while grown := {child for child, parent in parents.items() if parent in below} - below:
            below |= grown
        return below - {pid}

    def greatest_memory_mb(self, name: str) -> float:
        """Peak memory of a process, in MB."""
        status = Path(f"/proc/{self.running[name].pid}/status").read_text()
        return float(status.partition("VmHWM:")[2].split()[0]) / 1024

    def kill(self, name: str) -> None:
        """Kill a process without warning."""
        self._ended_cpu_s[name] += _cpu_s(self.running[name].pid)
        self.running[name].kill()
        self.running[name].wait()

    def start(self, name: str) -> None:
        """Start or restart a program and wait until it answers. Raises `SystemExit` with its log if it does not."""
        program, _, number = name.partition("/")
        command = [
            self._python if program == "inference" and part == sys.executable else part for part in self._commands[program]
        ]
        command = [self._inference if part == "workers.worker" else part for part in command]
        command = [f"{program}{number}@%h" if part == f"{program}@%h" else part for part in command]
        path = self._folder / f"{program}{number}.log"
        with path.open("ab") as log:
            self.running[name] = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        until = time.monotonic() + WITHIN_S
        while not self._is_ready(program):
            if self.running[name].poll() is not None or time.monotonic() > until:
                raise SystemExit(f"{name} did not start:\n{path.read_text()[-2000:]}")
            time.sleep(0.05)

    def _is_ready(self, program: str) -> bool:
        try:
            if program == "valkey":
                return bool(sync_client().ping())
            if program == "inference":
                started = sum(name.partition("/")[0] == "inference" for name in self.running)
                return len(heartbeats(sync_client())) >= started
            return program != "web" or _answers()
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


def _parents() -> dict[int, int]:
    found: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):  # Not a process, or it has ended.
            found[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    return found


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def _memory_mb(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # It has just ended.
        return 0.0
    return float(status.partition("VmRSS:")[2].split()[0]) / 1024 if "VmRSS:" in status else 0.0
