"""The fences around the interpreter, strongest first, each as the command that starts the interpreter behind it.

bubblewrap: separate namespaces for files, network, processes and users. landlock: the kernel's rules for one process, without a
private /tmp. unsafe-subprocess: only the resource limits; for development only.
"""

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workers.sandbox import seccomp
from workers.sandbox.environment import SANDBOX_UID, Environment
from workers.sandbox.execution import Limits

Level = Literal["bubblewrap", "landlock", "unsafe-subprocess"]

_PYTHON = Path("/opt/python")
_SITE = Path("/opt/site")
_COVER_BYTES = 4096
_LIBRARIES = ("/lib", "/lib64", "/lib32", "/libx32")
_VARIABLES = {
    "HOME": "/tmp",  # noqa: S108 - inside the sandbox it is private
    "TMPDIR": "/tmp",  # noqa: S108
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # Sets of strings print in the same order on every run.
    "PYTHONHASHSEED": "0",
}
# -I would also ignore PYTHONHASHSEED. Instead, -P and -s exclude the working directory and the user's packages.
_FLAGS = ("-B", "-s", "-P", "-X", "utf8")


@dataclass(frozen=True)
class Fenced:
    """A command that starts `python -c BOOT` behind a fence, and the settings for `inside.main`.

    `program` is a filter that the command reads from a descriptor; its number replaces `{filter}` in the command.
    """

    command: tuple[str, ...]
    variables: dict[str, str]
    fence: Literal["bubblewrap", "landlock", "none"]
    sites: tuple[str, ...]
    read: tuple[str, ...] = ()
    program: bytes | None = None


def fenced(level: Level, environment: Environment, limits: Limits) -> Fenced:
    """The command of a level. Raises `seccomp.UnknownProcessor`; `FileNotFoundError` if bubblewrap is missing."""
    if level == "bubblewrap":
        return _bubblewrap(environment, limits)
    if level == "landlock":
        return _landlock(environment)
    command = (str(environment.interpreter), *_FLAGS)
    return Fenced(command, _VARIABLES | _library_path(environment, environment.prefix), "none", (str(environment.site),))


def sandbox_user() -> dict[str, object]:
    """Arguments that start a process as the sandbox user; empty unless this process is root."""
    return {"user": SANDBOX_UID, "group": SANDBOX_UID, "extra_groups": []} if os.geteuid() == 0 else {}


def _bubblewrap(environment: Environment, limits: Limits) -> Fenced:
    program = shutil.which("bwrap")
    if program is None:
        raise FileNotFoundError("bwrap")
    command = [
        program,
        "--unshare-user",
        "--unshare-all",
        "--disable-userns",
        "--die-with-parent",
        "--new-session",
        "--clearenv",
    ]
    command += ["--hostname", "sandbox", "--uid", str(SANDBOX_UID), "--gid", str(SANDBOX_UID), "--cap-drop", "ALL"]
    inside = _PYTHON / environment.interpreter.relative_to(environment.prefix)
    variables = dict(_VARIABLES)
    if environment.is_of_the_system:
        inside = environment.interpreter
        command += ["--ro-bind", str(inside), str(inside)]
        if environment.prefix != Path("/usr"):
            command += ["--ro-bind", str(environment.prefix / "lib"), str(environment.prefix / "lib")]
            command += _emptied(environment.standard / "site-packages")
    else:
        command += ["--ro-bind", str(environment.interpreter), str(inside)]
        command += ["--ro-bind", str(environment.prefix / "lib"), str(_PYTHON / "lib")]
        hidden = environment.standard / "site-packages"
        command += _emptied(_PYTHON / hidden.relative_to(environment.prefix)) if hidden.is_dir() else []
        variables |= _library_path(environment, _PYTHON)
    command += [*_system_libraries(), "--ro-bind", str(environment.site), str(_SITE)]
    for device in ("null", "zero", "full", "random", "urandom"):
        command += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    command += ["--size", str(limits.scratch_bytes), "--tmpfs", "/tmp", "--remount-ro", "/", "--chdir", "/tmp"]  # noqa: S108
    for name, value in variables.items():
        command += ["--setenv", name, value]
    command += ["--seccomp", "{filter}", "--", str(inside), *_FLAGS]
    return Fenced(tuple(command), {}, "bubblewrap", (str(_SITE),), program=seccomp.start_filter())


def _system_libraries() -> list[str]:
    """Mounts of the system's libraries, without any program. Packages of the system's Python stay hidden."""
    mounts: list[str] = []
    for folder in ("/usr/lib", "/usr/lib64"):
        mounts += ["--ro-bind", folder, folder] if Path(folder).is_dir() and not Path(folder).is_symlink() else []
    for folder in _LIBRARIES:
        path = Path(folder)
        if path.is_symlink():
            mounts += ["--symlink", str(path.readlink()), folder]
        elif path.is_dir():
            mounts += ["--ro-bind", folder, folder]
    for folder in ("/usr/lib/python3/dist-packages",):
        mounts += _emptied(Path(folder)) if Path(folder).is_dir() else []
    return [*mounts, "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]


def _emptied(folder: Path) -> list[str]:
    """Arguments that cover a folder with an empty read-only one. A tmpfs without a size may take half the machine's memory."""
    return ["--size", str(_COVER_BYTES), "--tmpfs", str(folder), "--remount-ro", str(folder)]


def _landlock(environment: Environment) -> Fenced:
    read = (
        environment.standard,
        environment.prefix / "lib",
        environment.site,
        Path("/usr/lib"),
        Path("/usr/lib64"),
        Path("/lib"),
    )
    return Fenced(
        (str(environment.interpreter), *_FLAGS),
        _VARIABLES | _library_path(environment, environment.prefix),
        "landlock",
        (str(environment.site),),
        read=(*map(str, read), "/lib64", "/etc/ld.so.cache", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
        program=None,
    )


def _library_path(environment: Environment, prefix: Path) -> dict[str, str]:
    """LD_LIBRARY_PATH for an interpreter outside /usr, which may need a shared library from its moved installation."""
    if environment.is_of_the_system or sys.platform != "linux":
        return {}
    return {"LD_LIBRARY_PATH": str(prefix / "lib")}
