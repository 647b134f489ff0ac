"""The sandbox's own small Python environment: its location, and copies of it that the sandbox user can read.

`make sandbox` builds it from docker/requirements/sandbox.txt. The code sees only its packages and its interpreter, never the
environment of the application.
"""

import functools
import hashlib
import json
import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

#: The unprivileged user that runs the code if the worker is root.
SANDBOX_UID = 65534
DEFAULT = Path(__file__).resolve().parents[2] / ".venv-sandbox"
MAKE_IT = "run `make sandbox`, or name another folder with SANDBOX_ENVIRONMENT"
#: Root's copies for the sandbox user, needed for a checkout in a private folder such as /root. Not below a `DATA_DIR`, which
#: other users cannot enter.
_SHARED = Path("/var/lib/lemmascope-sandbox/copies")
_ASK = """import json, os, sys, sysconfig
paths = sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")
print(json.dumps([os.path.realpath(sys.executable), sys.base_prefix, *paths, "%d.%d.%d" % sys.version_info[:3]]))"""
_WITHIN_S = 30


class NoEnvironment(Exception):
    """There is no usable environment. The message says why; `fix` says what to do."""

    def __init__(self, message: str, fix: str = MAKE_IT) -> None:
        super().__init__(message)
        self.fix = fix


@dataclass(frozen=True)
class Environment:
    """An interpreter and packages, at paths that the sandbox user can read.

    `prefix`: folder of the interpreter's installation; it contains `interpreter` and the standard library, `standard`. `site`:
    folder of the packages. `packages`: their names and versions, for display.
    """

    interpreter: Path
    prefix: Path
    standard: Path
    site: Path
    version: str
    packages: tuple[str, ...]

    @property
    def is_of_the_system(self) -> bool:
        """Whether the interpreter belongs to the machine or its image and must stay in its place."""
        return self.prefix.is_relative_to("/usr")

    def __str__(self) -> str:
        return f"Python {self.version} with {', '.join(self.packages)}"


@functools.cache
def find(folder: Path = DEFAULT) -> Environment:
    """The environment in `folder`, made readable for the sandbox user if the worker is root. Raises `NoEnvironment`."""
    python = folder / "bin" / "python"
    if not python.exists():
        raise NoEnvironment(f"There is no Python environment for the sandbox in {folder}")
    try:
        asked = subprocess.run(  # noqa: S603 - the installation's own environment
            [python, "-I", "-c", _ASK], env={}, capture_output=True, text=True, check=True, timeout=_WITHIN_S
        )
        interpreter, prefix, standard, site, version = json.loads(asked.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise NoEnvironment(f"The Python environment in {folder} does not start ({error})") from error
    packages = _packages(Path(site))
    if not packages:
        raise NoEnvironment(f"The Python environment in {folder} is empty")
    found = Environment(Path(interpreter), Path(prefix), Path(standard), Path(site), version, packages)
    return found if os.geteuid() else _readable_by_sandbox_user(found)


def _packages(site: Path) -> tuple[str, ...]:
    names = (entry.name.removesuffix(".dist-info").split("-") for entry in sorted(site.glob("*.dist-info")))
    return tuple(f"{name} {version}" for name, version, *_ in names if name not in ("pip", "setuptools"))


def _readable_by_sandbox_user(found: Environment) -> Environment:
    try:
        site = found.site if _is_open(found.site) else _copied(found.site, _skip_nothing)
        if _is_open(found.prefix):
            return Environment(found.interpreter, found.prefix, found.standard, site, found.version, found.packages)
        prefix = _copied(found.prefix, _skip_extras)
    except OSError as error:
        raise NoEnvironment(
            f"The sandbox user ({SANDBOX_UID}) cannot read {found.prefix} or {found.site}, and they cannot be copied ({error})",
            "move the project and its Python to a folder that everybody may read, or run the worker as an ordinary user",
        ) from error
    inside = (prefix / path.relative_to(found.prefix) for path in (found.interpreter, found.standard))
    return Environment(next(inside), prefix, next(inside), site, found.version, found.packages)


def _is_open(path: Path) -> bool:
    """Whether everybody may read the folder and traverse the folders above it."""
    if not path.stat().st_mode & stat.S_IROTH:
        return False
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in (path, *path.parents))


def _copied(source: Path, skip: Callable[[str, list[str]], list[str]]) -> Path:
    """A copy of the folder that everybody may read, made once; with hard links if the file system allows them."""
    made_of = sorted(entry.name for entry in source.iterdir())
    digest = hashlib.sha256(json.dumps([str(source), source.stat().st_mtime_ns, made_of]).encode()).hexdigest()[:16]
    target = _SHARED / digest
    if target.is_dir():
        return target
    for folder in (_SHARED.parent, _SHARED):
        folder.mkdir(exist_ok=True)
        if folder.stat().st_uid or folder.is_symlink():
            raise OSError(f"{folder} does not belong to root")
        folder.chmod(0o755)  # Regardless of the umask.
    making = _SHARED / f"{digest}.{os.getpid()}"
    shutil.copytree(source, making, symlinks=True, ignore=skip, copy_function=_link)
    for folder in (making, *(path for path in making.rglob("*") if path.is_dir() and not path.is_symlink())):
        folder.chmod(0o755)
    try:
        making.rename(target)
    except OSError:
        shutil.rmtree(making)
    return target


def _link(source: str, target: str) -> None:
    file = Path(source)
    if file.stat().st_mode & stat.S_IROTH:
        try:
            Path(target).hardlink_to(file)
            return
        except OSError:
            pass
    shutil.copyfile(source, target)
    Path(target).chmod(0o755 if file.stat().st_mode & stat.S_IXUSR else 0o644)


def _skip_nothing(folder: str, names: list[str]) -> list[str]:
    return []


def _skip_extras(folder: str, names: list[str]) -> list[str]:
    """Skip packages, tests and files for compiling, which are nine tenths of an installation."""
    skipped = {
        "site-packages",
        "dist-packages",
        "test",
        "tests",
        "include",
        "share",
        "idlelib",
        "tkinter",
        "ensurepip",
        "pkgconfig",
    }
    return [name for name in names if name in skipped or name.endswith(".a") or name.startswith("config-")]
