"""Fixtures: a sandbox behind each fence, and files, processes and sockets outside it as targets of attacks."""

import contextlib
import os
import socket
import subprocess
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
import pytest_asyncio

from workers.sandbox.environment import SANDBOX_UID
from workers.sandbox.execution import Limits
from workers.sandbox.probe import Probe
from workers.sandbox.sandbox import Sandbox, SandboxOptions

Fence = Literal["bubblewrap", "landlock"]
PROJECT = Path(__file__).resolve().parents[2]
SECRET = "SECRET_OF_THE_TESTS"


def needed(found: Probe) -> None:
    """Skip where something must be installed. Expect a failure where the machine itself forbids the fence."""
    if found.level != "off":
        return
    if "not installed" in found.reason or found.environment is None:
        pytest.skip(str(found))
    pytest.xfail(str(found))


@pytest_asyncio.fixture(loop_scope="module", scope="module", params=["bubblewrap", "landlock"])
async def sandbox(request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    """A sandbox without warm libraries: its processes start in a tenth of a second."""
    fence: Fence = request.param
    limits = Limits(cpu_s=10, output_bytes=64 * 1024)
    made = Sandbox(SandboxOptions(level=fence, warm=1, at_once=2, libraries=(), limits=limits))
    needed(await made.probe())
    yield made
    await made.close()


@dataclass
class Surroundings:
    """Targets outside the sandbox and their state."""

    folder: Path
    sibling: "subprocess.Popen[bytes]"
    visitors: list[str] = field(default_factory=list)
    facts: dict[str, object] = field(default_factory=dict)

    def damage(self) -> list[str]:
        """List the changes since the last call."""
        own = self.folder / "own"
        found = [f"the code connected to {name}" for name in self.visitors]
        self.visitors.clear()
        found += [] if own.exists() and own.read_text() == "mine\n" else ["the file is changed"]
        found += (
            []
            if own.exists() and own.stat().st_mode & 0o777 == 0o644 and own.stat().st_mtime > 1000
            else ["its mode or time is changed"]
        )
        found += [] if self.sibling.poll() is None else ["the other process is dead"]
        found += sorted(str(path) for path in self.folder.iterdir() if path.name not in ("own", "canary", "unix", "datagram"))
        return found


@pytest.fixture(scope="module")
def surroundings() -> Iterator[Surroundings]:
    """Files, a process and sockets of the code's own user, known to every attempt."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lemmascope-attacked-")))
        folder.chmod(0o777)
        (folder / "canary").write_text("a secret\n")
        (folder / "canary").chmod(0o644)  # The fence must refuse it, not the umask.
        (folder / "own").write_text("mine\n")
        (folder / "own").chmod(0o644)
        is_root = os.geteuid() == 0
        if is_root:
            os.chown(folder / "own", SANDBOX_UID, SANDBOX_UID)
        user = {"user": SANDBOX_UID, "group": SANDBOX_UID} if is_root else {}
        sibling = subprocess.Popen(["/bin/sleep", "3600"], **user)  # type: ignore[call-overload]
        stack.callback(sibling.wait)
        stack.callback(sibling.kill)
        made = Surroundings(folder, sibling)
        port = _listen(stack, made, "the port", socket.AF_INET, ("127.0.0.1", 0))
        _listen(stack, made, "the unix socket", socket.AF_UNIX, str(folder / "unix"))
        _listen(stack, made, "the abstract socket", socket.AF_UNIX, f"\0lemmascope-tests-{os.getpid()}")
        _listen(stack, made, "the datagram socket", socket.AF_UNIX, str(folder / "datagram"), socket.SOCK_DGRAM)
        made.facts = {
            "folder": str(folder),
            "canary": str(folder / "canary"),
            "own": str(folder / "own"),
            "project": str(PROJECT),
            "secret_name": SECRET,
            "worker": os.getpid(),
            "sibling": sibling.pid,
            "port": port,
            "unix": str(folder / "unix"),
            "abstract": f"\0lemmascope-tests-{os.getpid()}",
            "datagram": str(folder / "datagram"),
        }
        yield made


def _listen(
    stack: contextlib.ExitStack,
    made: Surroundings,
    name: str,
    family: socket.AddressFamily,
    address: str | tuple[str, int],
    kind: socket.SocketKind = socket.SOCK_STREAM,
) -> int:
    """Listen at the address, record connections, and give the port, or 0 for a socket without one."""
    server = stack.enter_context(socket.socket(family, kind))
    server.bind(address)
    if isinstance(address, str) and not address.startswith("\0"):
        Path(address).chmod(0o777)
    if kind == socket.SOCK_STREAM:
        server.listen()

    def serve() -> None:
        while True:
            try:
                if kind == socket.SOCK_STREAM:
                    server.accept()[0].close()
                else:
                    server.recv(1)
            except OSError:
                return
            made.visitors.append(name)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    stack.callback(thread.join, 5)
    stack.callback(_wake, server)
    return int(server.getsockname()[1]) if family == socket.AF_INET else 0


def _wake(server: socket.socket) -> None:
    with contextlib.suppress(OSError):
        server.shutdown(socket.SHUT_RDWR)
