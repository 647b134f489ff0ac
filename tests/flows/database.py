"""A PostgreSQL server that a test may kill: its own data folder, a unix socket, started and stopped by name."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg


def server_programs() -> Path | None:
    """The folder of the newest installed server, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[-3]))
    on_path = shutil.which("postgres")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


class PostgresServer:
    """Use as a context manager. It runs as the user `postgres` where the tests run as root, which the server refuses."""

    def __init__(self) -> None:
        programs = server_programs()
        assert programs is not None
        self._programs = programs
        self.folder = Path(tempfile.mkdtemp(prefix="ls-pg-"))
        self._user = "postgres" if os.getuid() == 0 else None
        if self._user:
            os.chown(self.folder, pwd.getpwnam(self._user).pw_uid, -1)
        self._server: subprocess.Popen[bytes] | None = None
        self._run("initdb", "-D", str(self.folder / "data"), "-A", "trust", "-U", "lemmascope")

    @property
    def url(self) -> str:
        return f"postgres://lemmascope@{str(self.folder).replace('/', '%2F')}/postgres"

    def __enter__(self) -> "PostgresServer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Start, and wait until the server takes connections; after a kill that includes its recovery."""
        command = [str(self._programs / "postgres"), "-D", str(self.folder / "data"), "-c", "listen_addresses=",
                   "-c", f"unix_socket_directories={self.folder}", "-c", "max_connections=200"]  # fmt: skip
        with (self.folder / "server.log").open("ab") as log:
            self._server = subprocess.Popen(command, stdout=log, stderr=log, user=self._user)
        until = time.monotonic() + 30
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=2).close()
            except psycopg.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)
            else:
                return

    def kill(self) -> None:
        """Kill the server and the processes of its connections with SIGKILL, as if the machine died.

        A process that survived could finish its COMMIT and write into the files of the next server. Only the file that is
        removed here keeps the two apart.
        """
        if self._server is not None:
            connections = _children(self._server.pid)
            self._server.send_signal(signal.SIGKILL)
            for pid in connections:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._server.wait(timeout=20)
            until = time.monotonic() + 20
            while any(map(_lives, connections)) and time.monotonic() < until:
                time.sleep(0.01)
            self._server = None
            with contextlib.suppress(FileNotFoundError):
                (self.folder / "data" / "postmaster.pid").unlink()

    def _run(self, program: str, *args: str) -> None:
        subprocess.run([str(self._programs / program), *args], check=True, stdout=subprocess.DEVNULL, user=self._user)


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _lives(pid: int) -> bool:
    """Whether a process is there and no zombie, which in a container may stay."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
