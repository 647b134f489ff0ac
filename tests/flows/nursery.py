"""Processes of a stack, forked from one process that has the common imports, because importing took longer than the runs.

A forked process has its own command, environment, log and exit code. Only modules that read no settings are imported first.

`python -m tests.flows.nursery` reads orders as JSON objects, one per line. It answers each with a number: the process, or its
exit code.
"""

import atexit
import contextlib
import functools
import gc
import importlib
import itertools
import json
import os
import runpy
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MODULES = ("celery", "uvicorn", "tests.flows.agent")
COMMON = (
    "apps.reasoning.graders.registry",
    "apps.reasoning.inference.openai_http",
    "apps.reasoning.programs.registry",
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.bin.worker",
    "celery.concurrency.thread",
    "celery.worker.consumer",
    "channels.routing",
    "django.core.management",
    "django.db.models",
    "django.shortcuts",
    "environs",
    "httpx",
    "kombu.transport.redis",
    "markdown_it",
    "psycopg",
    "redis.asyncio",
    "uvicorn.main",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
    "yaml",
)


class Child:
    """A forked process, with what tests ask of `subprocess.Popen`."""

    def __init__(self, nursery: "Nursery", pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._nursery = nursery
        self._file = os.pidfd_open(pid)

    def poll(self) -> int | None:
        """How it ended; None where it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(timeout=0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._file], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
            self.returncode = self._nursery.order(ended=self.pid)
            os.close(self._file)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            signal.pidfd_send_signal(self._file, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Nursery:
    """The process that forks, from the side of the tests."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.flows.nursery"]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        atexit.register(self._end)

    def start(self, module: str, args: list[str], env: dict[str, str], log: Path, **pipes: str) -> Child:
        """`python -m MODULE ARGS`, with standard output and error in `log`, or in and out where `pipes` say."""
        return Child(self, self.order(module=module, args=args, env=env, log=str(log), **pipes))

    def order(self, **what: Any) -> int:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(what) + "\n")
        stdin.flush()
        return int(stdout.readline())

    def _end(self) -> None:
        self._process.communicate(timeout=20)


@functools.cache
def _nurseries() -> "itertools.cycle[Nursery]":
    """Two, in turn: forked processes share the seed of Python's hashes, and what is replayed must not depend on it."""
    return itertools.cycle([Nursery(), Nursery()])


def start(module: str, args: list[str], env: dict[str, str], log: Path, **pipes: str) -> Child:
    """`python -m MODULE ARGS` by the nursery whose turn it is."""
    return next(_nurseries()).start(module, args, env, log, **pipes)


def main() -> None:
    """Fork for every order; tell how a process ended where that is asked."""
    for name in COMMON:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        order = json.loads(line)
        if "ended" in order:
            answer = os.waitstatus_to_exitcode(os.waitpid(order["ended"], 0)[1])
        elif not (answer := os.fork()):
            _become(**order)
            return
        print(answer, flush=True)  # noqa: T201


def _become(module: str, args: list[str], env: dict[str, str], log: str, stdin: str = os.devnull, stdout: str = "") -> None:
    os.environ.clear()
    os.environ.update(env)
    append = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    os.dup2(os.open(stdin, os.O_RDONLY), 0)
    os.dup2(os.open(stdout, os.O_WRONLY) if stdout else os.open(log, append), 1)
    os.dup2(os.open(log, append), 2)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  (what the old one has read ahead is for the nursery)
    sys.argv = [module, *args]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
