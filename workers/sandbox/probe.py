"""Tests which fence holds on this machine: the ladder of docs/sandbox.md, with a fix for each rung that fails."""

import asyncio
import json
import logging
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workers.sandbox import landlock
from workers.sandbox.environment import Environment, NoEnvironment, find
from workers.sandbox.execution import Limits
from workers.sandbox.fences import Level, fenced
from workers.sandbox.process import NotStarted, SingleUse
from workers.sandbox.seccomp import UnknownProcessor

log = logging.getLogger(__name__)

Choice = Literal["auto", "bubblewrap", "landlock", "unsafe-subprocess", "off"]
UNSAFE = "SANDBOX=unsafe-subprocess: code that models write runs WITHOUT a sandbox, with the rights of this worker."
_LADDER: tuple[Level, ...] = ("bubblewrap", "landlock")
_PROBE_WALL_S = 20.0
_SYSCTL = "as root, for now and in /etc/sysctl.d for good: sysctl -w"
_CONTAINER = (
    "in a container, do not grant it CAP_SYS_ADMIN: run the sandbox worker as a container of its own, without network and "
    "read-only, with a seccomp profile that allows user namespaces (docs/sandbox.md)"
)
#: Attempts what must fail and prints the attempts that succeed. `{canary}` is a file that everybody on the machine may read.
_CHECK = """
import json, os, socket
def fork():
    if os.fork() == 0:
        os._exit(0)
    os.wait()
def network():
    socket.socket(socket.AF_INET, socket.SOCK_STREAM)
def files():
    open({canary!r}).read()
def writing():
    open({canary!r} + ".new", "w").close()
held = []
for attempt in (fork, network, files, writing):
    try:
        attempt()
    except OSError:
        held.append(attempt.__name__)
print(json.dumps([name for name in ("fork", "network", "files", "writing") if name not in held]))
"""


@dataclass(frozen=True)
class Rung:
    """One fence on this machine. `reason` says why it does not hold, `fix` what to do; both are empty if it holds."""

    level: Level
    reason: str = ""
    fix: str = ""

    @property
    def holds(self) -> bool:
        return not self.reason


@dataclass(frozen=True)
class Probe:
    """The result of a probe. `level` is "off" if code may not run; `reason` and `fix` explain it to people.

    For a level other than the strongest they explain why the stronger one failed. `rungs` are all that were tried.
    """

    level: Level | Literal["off"]
    reason: str = ""
    fix: str = ""
    environment: Environment | None = None
    rungs: tuple[Rung, ...] = ()

    def __str__(self) -> str:
        """One sentence for the Models page and the log."""
        if self.level == "off":
            return f"Code execution is off: {self.reason}. How to fix it: {self.fix}."
        if self.level == "unsafe-subprocess":
            return UNSAFE
        weaker = f", the second-best fence (bubblewrap: {self.reason}; how to fix it: {self.fix})" if self.reason else ""
        return f"{self.environment} behind {self.level}{weaker}."


async def probe(
    choice: Choice = "auto", *, folder: Path | None = None, limits: Limits | None = None, debug: bool = False
) -> Probe:
    """Try the fences in order, or only the chosen one. Never raises for what the machine lacks."""
    if choice == "off":
        return Probe("off", "the setting SANDBOX is off", "set SANDBOX=auto")
    try:
        # Root may have to copy the packages first, which takes seconds.
        environment = await asyncio.to_thread(find, folder) if folder else await asyncio.to_thread(find)
    except NoEnvironment as error:
        return Probe("off", str(error), error.fix)
    if choice == "unsafe-subprocess":
        if not debug:
            return Probe("off", "SANDBOX=unsafe-subprocess works with DEBUG only", "set SANDBOX=auto")
        log.warning(UNSAFE)
        return Probe("unsafe-subprocess", environment=environment)
    rungs: list[Rung] = []
    for level in _LADDER if choice == "auto" else (choice,):
        rungs.append(await _tried(level, environment, limits or Limits()))
        if rungs[-1].holds:
            first = rungs[0]
            return Probe(level, first.reason, first.fix, environment, tuple(rungs))
    reason = "; ".join(f"{rung.level}: {rung.reason}" for rung in rungs)
    return Probe("off", f"no fence holds on this machine ({reason})", rungs[0].fix, environment, tuple(rungs))


async def _tried(level: Level, environment: Environment, limits: Limits) -> Rung:
    if level == "landlock" and landlock.version() < landlock.OLDEST:
        found = landlock.version()
        old = (
            f"the kernel's Landlock is version {found}, {landlock.OLDEST} is needed"
            if found
            else "the kernel offers no Landlock"
        )
        return Rung(level, old, "use Linux 6.2 or newer with the security module `landlock`, or fix bubblewrap")
    try:
        open_doors = await _open_doors(level, environment, limits)
    except FileNotFoundError:
        return Rung(level, "bubblewrap is not installed", "install bubblewrap 0.8 or newer (apt install bubblewrap)")
    except UnknownProcessor as error:
        return Rung(level, str(error), "run the sandbox worker on a machine with an x86_64 or aarch64 processor")
    except (NotStarted, TimeoutError, OSError, ValueError) as error:
        reason = str(error) or "it does not answer"
        return Rung(level, reason, _bubblewrap_fix(reason) if level == "bubblewrap" else "see the worker's log")
    if open_doors:
        return Rung(
            level,
            f"the fence leaves open: {', '.join(open_doors)}",
            "report this fault; the fence is not used until it is fixed",
        )
    return Rung(level)


async def _open_doors(level: Level, environment: Environment, limits: Limits) -> list[str]:
    with _canary() as canary:
        process = await SingleUse.start(fenced(level, environment, limits), limits, warm=())
        done = await process.run(_CHECK.format(canary=str(canary)), wall_s=_PROBE_WALL_S)
    if done.error:
        raise NotStarted(done.stderr.strip().rpartition("\n")[2] or done.error)
    doors: list[str] = json.loads(done.stdout)
    return doors


@contextmanager
def _canary() -> Iterator[Path]:
    """A file that everybody but the code may read, in a folder that everybody may write to."""
    with tempfile.TemporaryDirectory(prefix="lemmascope-probe-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        canary = folder / "canary"
        canary.write_text("a secret\n")
        canary.chmod(0o644)  # Regardless of the umask: an unreadable file would test no fence.
        yield canary


def _bubblewrap_fix(said: str) -> str:
    if "nknown option" in said:
        return f"install bubblewrap 0.8 or newer ({shutil.which('bwrap')} knows no --disable-userns)"
    if _kernel("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return "give /usr/bin/bwrap an AppArmor profile with the rule `userns,` (Ubuntu 23.10 and newer; docs/sandbox.md)"
    if _kernel("user/max_user_namespaces") == "0":
        return f"{_SYSCTL} user.max_user_namespaces=15000"
    if _kernel("kernel/unprivileged_userns_clone") == "0":
        return f"{_SYSCTL} kernel.unprivileged_userns_clone=1"
    if "namespace" in said or "uid map" in said:
        return _CONTAINER
    return "run the worker with LOG_LEVEL=DEBUG and see docs/sandbox.md"


def _kernel(name: str) -> str:
    try:
        return (Path("/proc/sys") / name).read_text().strip()
    except OSError:
        return ""
