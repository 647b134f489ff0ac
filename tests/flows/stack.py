"""A whole stack of real processes for a test: Valkey, orchestrator, inference worker, web, on a database of its own.

Processes are killed with -9 by name and started again, as a supervisor would.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from apps.config.stack import valkey_binary
from tests.flows import nursery
from tests.flows.nursery import Child
from tests.migrated import database_create, migrated_database, migrated_file, url_of

ROOT = nursery.ROOT
_CELERY = [sys.executable, "-m", "celery", "-A"]
Process = subprocess.Popen[bytes] | Child
_QUIET = ["--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "INFO"]


@dataclass
class Stack:
    """All processes of one test under one folder. Use as a context manager."""

    folder: Path
    tokens_per_s: float = 3000.0
    extra_env: dict[str, str] = field(default_factory=dict)
    database: str = ""
    #: What inference workers serve.
    queue: str = "inference.worked-example"
    running: dict[str, Process] = field(default_factory=dict)
    port: int = 0
    _agent: Process | None = None
    _pipes: "tuple[IO[str], IO[str]] | None" = None

    def __enter__(self) -> "Stack":
        (self.folder / "valkey").mkdir(parents=True, exist_ok=True)
        self.env = {
            **os.environ,
            "DATA_DIR": str(self.folder),
            "REDIS_URL": f"unix://{self.folder}/valkey/v.sock?db=0",
            "EMBEDDED": "1",
            "LEASE_S": "3",
            "LEASE_RENEW_S": "1",
            "REDISPATCH_GRACE_S": "1.5",
            "DRAIN_S": "1",
            "WORKED_EXAMPLE_TOKENS_PER_S": str(self.tokens_per_s),
            "ORCHESTRATOR_RUNS": "4",
            "SANDBOX": "off",
            **self.extra_env,
        }
        database = self.database or os.environ.get("DATABASE_URL", "")
        if database.startswith("postgres"):
            self.env["DATABASE_URL"] = _fresh_database(database)
        else:
            shutil.copy(migrated_file(), self.folder / "lemmascope.sqlite3")
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.running.values():
            process.kill()
        self.end_agent()
        for process in self.running.values():
            process.wait(timeout=20)

    def end_agent(self) -> None:
        """End the process that answers `agent`, and with it its connections; the next question starts another."""
        if self._agent is None or self._pipes is None:
            return
        for pipe in self._pipes:
            pipe.close()
        try:
            self._agent.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._agent.kill()
            self._agent.wait(timeout=20)
        self._agent = self._pipes = None
        for name in ("agent.in", "agent.out"):
            (self.folder / name).unlink()

    def start(self, *names: str, env: dict[str, str] | None = None) -> None:
        """Start processes by name; one that runs already is left alone."""
        for name in names:
            if name in self.running and self.running[name].poll() is None:
                continue
            self.running[name] = _start(self._command(name), {**self.env, **(env or {})}, self.folder / f"{name}.log")

    def kill(self, name: str) -> None:
        """kill -9, and wait until the process is gone."""
        process = self.running[name]
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=20)

    def wait_dead(self, name: str, within_s: float = 30) -> None:
        """Wait until a process has died by itself, at its crash point."""
        self.running[name].wait(timeout=within_s)

    def keep_up(self, names: Sequence[str]) -> None:
        """Start again what has died."""
        self.start(*names)

    def agent(self, *args: str) -> Any:
        """Run one command of tests/flows/agent.py in this stack's environment; returns its JSON."""
        if self._pipes is None:
            asked, said = self.folder / "agent.in", self.folder / "agent.out"
            for pipe in (asked, said):
                os.mkfifo(pipe)
            command = [sys.executable, "-m", "tests.flows.agent"]
            self._agent = _start(command, self.env, self.folder / "agent.log", stdin=str(asked), stdout=str(said))
            self._pipes = asked.open("w"), said.open()
        stdin, stdout = self._pipes
        stdin.write(json.dumps(args) + "\n")
        stdin.flush()
        answer = stdout.readline()
        if not answer:
            raise AssertionError(f"agent {args}:\n{self.log_text('agent')[-2000:]}")
        return json.loads(answer)

    def wait_until_ended(self, run: str, keep: Sequence[str] = (), within_s: float = 60) -> dict[str, Any]:
        """Keep the named processes up until the run has ended; returns its dump. Fails with the ends of the logs.

        `within_s` counts from the last thing that the run recorded: on a busy machine a run is slow, not stuck.
        """
        seen, until = None, 0.0
        while True:
            self.keep_up(keep)
            status = self.agent("glance", run)
            if status != seen:
                seen, until = status, time.monotonic() + within_s
            if status[0] in {"finished", "failed", "cancelled", "needs_fork"}:
                dump: dict[str, Any] = self.agent("dump", run)
                return dump
            if time.monotonic() > until:
                raise AssertionError(f"the run recorded nothing for {within_s:.0f} s: {status}\n{self.logs()}")
            time.sleep(0.3)

    def wait_for(self, run: str, condition: Callable[[dict[str, Any]], bool], within_s: float = 30) -> dict[str, Any]:
        """Wait until the run's dump meets the condition."""
        until = time.monotonic() + within_s
        while time.monotonic() < until:
            dump: dict[str, Any] = self.agent("dump", run)
            if condition(dump):
                return dump
            time.sleep(0.1)
        raise AssertionError(f"the run is {dump['status']} with {dump['calls']} calls\n{self.logs()}")

    def wait_for_web(self, within_s: float = 40) -> None:
        """Wait until the web process answers."""
        until = time.monotonic() + within_s
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=2):
                    return
            except OSError:
                time.sleep(0.2)
        raise AssertionError(f"the web process did not answer\n{self.logs()}")

    def logs(self, lines: int = 25) -> str:
        """The ends of all logs, for a failure message."""
        return "\n".join(
            f"--- {path.name}\n" + "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
            for path in sorted(self.folder.glob("*.log"))
        )

    def log_text(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def _command(self, name: str) -> list[str]:
        if name == "valkey":
            folder = self.folder / "valkey"
            return [valkey_binary(), "--port", "0", "--unixsocket", str(folder / "v.sock"), "--dir", str(folder),
                    "--appendonly", "yes", "--appendfsync", "everysec", "--save", ""]  # fmt: skip
        if name == "web":
            return [sys.executable, "-m", "uvicorn", "apps.config.asgi:application", "--host", "127.0.0.1",
                    "--port", str(self.port), "--ws", "websockets-sansio", "--lifespan", "off", "--no-access-log"]  # fmt: skip
        if name.startswith("orchestrator"):
            return [*_CELERY, "apps.config.orchestrator", "worker", "-P", "threads", "-c", "4", "-Q", "runs",
                    "-n", f"{name}@%h", *_QUIET]  # fmt: skip
        if name == "grader":  # Answers of benchmarks/grading.py, for experiments.
            return [*_CELERY, "benchmarks.engines.answering", "worker", "-P", "threads", "-c", "16",
                    "-Q", "inference.grader,inference.scaffolds", "-n", f"{name}@%h", *_QUIET]  # fmt: skip
        queue = "inference.sandbox" if name == "sandbox" else self.queue
        return [*_CELERY, "workers.worker", "worker", "-P", "threads", "-c", "16", "-Q", queue,
                "-n", f"{name}@%h", *_QUIET]  # fmt: skip


def _start(command: list[str], env: dict[str, str], log: Path, **pipes: str) -> Process:
    """Processes of the application by the nursery, where this system has what it needs."""
    module, *args = command[2:]
    if module in nursery.MODULES and hasattr(os, "pidfd_open"):
        return nursery.start(module, args, env, log, **pipes)
    if pipes:
        command = ["sh", "-c", 'exec "$@" <"$STDIN" >"$STDOUT"', "sh", *command]
        env = env | {"STDIN": pipes["stdin"], "STDOUT": pipes["stdout"]}
    with log.open("ab") as file:
        return subprocess.Popen(command, env=env, cwd=ROOT, stdout=file, stderr=file)


def _fresh_database(url: str) -> str:
    """A new database with all tables on the PostgreSQL server of `url`."""
    name = f"flow_{uuid.uuid4().hex[:12]}"
    database_create(url, name, f'TEMPLATE "{migrated_database(url)}"')
    return url_of(url, name)
