"""Processes of the computational verifier (`python -m apps.mathcheck --serve`), started when needed and used again."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections import deque

from django.conf import settings

#: Last guards on one job. The check itself limits its operations and normally uses a small part of these.
WALL_S = 240.0
CPU_S, MEMORY_BYTES = 200, 2 * 1024**3
#: Idle processes that are kept. More jobs at once start more processes, which end with them.
KEPT = 2
_idle: deque["_Process"] = deque()


class VerifierFailed(Exception):
    """The verifier gave no answer; says why."""


def answer_of(job: str) -> str:
    """The answer to a job, both one line of JSON. Raises `VerifierFailed`."""
    kept = _from_idle()
    process = kept or _Process()
    try:
        answer = process.ask(job)
    except VerifierFailed:
        if kept is None or not kept.was_lost:
            raise
        process = _Process()  # The kept one ended while it was idle.
        answer = process.ask(job)
    if len(_idle) < KEPT:
        _idle.append(process)
    else:
        process.end()
    return answer


def make_ready() -> None:
    """Start a process if none is idle, so that a check soon afterwards need not wait for its start."""
    if not _idle:
        with contextlib.suppress(VerifierFailed):
            _idle.append(_Process())


def _from_idle() -> "_Process | None":
    with contextlib.suppress(IndexError):
        while True:
            process = _idle.pop()
            if process.is_running:
                return process
            process.end()
    return None


class _Process:
    """One process. After a failure it is ended and never used again."""

    def __init__(self) -> None:
        self.was_late = self.was_lost = False
        command = [sys.executable, "-m", "apps.mathcheck", "--serve", str(CPU_S), str(MEMORY_BYTES)]
        try:
            self._running = subprocess.Popen(  # noqa: S603  Our own program, its input on a pipe.
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                cwd=settings.BASE_DIR,
                process_group=0,
            )
        except OSError as error:
            raise VerifierFailed("The formula check failed.") from error

    @property
    def is_running(self) -> bool:
        return self._running.poll() is None

    def ask(self, job: str) -> str:
        """The answer to a job. Raises `VerifierFailed`."""

        def stop() -> None:
            self.was_late = True
            self._kill()

        late = threading.Timer(WALL_S, stop)
        late.daemon = True
        late.start()
        try:
            answer = self._asked(job)
        finally:
            late.cancel()
        if answer.strip() and not self.was_late:
            return answer
        self.was_lost = not answer and not self.was_late
        self.end()
        raise VerifierFailed("The formula check exceeded its time limit." if self.was_late else "The formula check failed.")

    def _asked(self, job: str) -> str:
        assert self._running.stdin is not None
        assert self._running.stdout is not None
        try:
            self._running.stdin.write(job + "\n")
            self._running.stdin.flush()
            return self._running.stdout.readline()
        except (OSError, ValueError):  # It has ended meanwhile.
            return ""

    def end(self) -> None:
        """End the process and its fork."""
        self._kill()
        with contextlib.suppress(OSError):
            self._running.communicate()

    def _kill(self) -> None:
        if not self.is_running:
            return  # Its number may belong to another process now.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._running.pid, signal.SIGKILL)
