"""The sandbox's own small Python environment: where it is, and how a user who may see nothing else can read it.

`make sandbox` makes it from docker/requirements/sandbox.txt. Only its packages and the interpreter behind it are ever shown to
the code; the environment of the application never is.
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

#: Who the code is where the worker is root: nobody.
NOBODY = 65534
DEFAULT = Path(__file__).resolve().parents[2] / ".venv-sandbox"
MAKE_IT = "run `make sandbox`, or name another folder with SANDBOX_ENVIRONMENT"
#: Where root keeps a copy that the user nobody can read, for a checkout in a private folder such as /root. Not below a
#: `DATA_DIR`, which other users cannot enter.
_SHARED = Path("/var/lib/lemmascope-sandbox/copies")
_ASK = """import json, os, sys, sysconfig
paths = sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")
print(json.dumps([os.path.realpath(sys.executable), sys.base_prefix, *paths, "%d.%d.%d" % sys.version_info[:3]]))"""
_WITHIN_S = 30


class NoEnvironment(Exception):
    """There is no usable environment; the message says why and `mend` what to do."""

    def __init__(self, message: str, mend: str = MAKE_IT) -> None:
        super().__init__(message)
        self.mend = mend


@dataclass(frozen=True)
class Environment:
    """An interpreter and packages, at paths that the code's user can read.

    `prefix` is the folder of the interpreter's installation, `standard` its library, both below `prefix`; `site` the packages.
    `packages` are the names and versions that people see.
    """

    interpreter: Path
    prefix: Path
    standard: Path
    site: Path
    version: str
    packages: tuple[str, ...]

    @property
    def is_of_the_system(self) -> bool:
        """True where the interpreter came with the machine or its image and needs to stay where it is."""
        return self.prefix.is_relative_to("/usr")

    def __str__(self) -> str:
        return f"Python {self.version} with {', '.join(self.packages)}"


@functools.cache
def find(folder: Path = DEFAULT) -> Environment:
    """The environment in `folder`, made readable where the worker is root. Raises `NoEnvironment`."""
    python = folder / "bin" / "python"
    if not python.exists():
        raise NoEnvironment(f"There is no Python environment for the sandbox in {folder}")
    try:
        asked = subprocess.run(  # noqa: S603 - the environment that the installation names
            [python, "-I", "-c", _ASK], env={}, capture_output=True, text=True, check=True, timeout=_WITHIN_S
        )
        interpreter, prefix, standard, site, version = json.loads(asked.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise NoEnvironment(f"The Python environment in {folder} does not start ({error})") from error
    packages = _packages(Path(site))
    if not packages:
        raise NoEnvironment(f"The Python environment in {folder} is empty")
    found = Environment(Path(interpreter), Path(prefix), Path(standard), Path(site), version, packages)
    return found if os.geteuid() else _readable_by_nobody(found)


def _packages(site: Path) -> tuple[str, ...]:
    names = (entry.name.removesuffix(".dist-info").split("-") for entry in sorted(site.glob("*.dist-info")))
    return tuple(f"{name} {version}" for name, version, *_ in names if name not in ("pip", "setuptools"))


def _readable_by_nobody(found: Environment) -> Environment:
    try:
        site = found.site if _is_open(found.site) else _copied(found.site, _everything)
        if _is_open(found.prefix):
            return Environment(found.interpreter, found.prefix, found.standard, site, found.version, found.packages)
        prefix = _copied(found.prefix, _only_the_interpreter)
    except OSError as error:
        raise NoEnvironment(
            f"The user of the sandbox ({NOBODY}) cannot read {found.prefix} or {found.site}, and no copy can be made ({error})",
            "put the project and its Python where everybody may read them, or run the worker as an ordinary user",
        ) from error
    inside = (prefix / path.relative_to(found.prefix) for path in (found.interpreter, found.standard))
    return Environment(next(inside), prefix, next(inside), site, found.version, found.packages)


def _is_open(path: Path) -> bool:
    """May everybody read the folder and pass through those above it?"""
    if not path.stat().st_mode & stat.S_IROTH:
        return False
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in (path, *path.parents))


def _copied(source: Path, skip: Callable[[str, list[str]], list[str]]) -> Path:
    """A copy of the folder for everybody to read, made once; hard links where the file system allows them."""
    made_of = sorted(entry.name for entry in source.iterdir())
    digest = hashlib.sha256(json.dumps([str(source), source.stat().st_mtime_ns, made_of]).encode()).hexdigest()[:16]
    target = _SHARED / digest
    if target.is_dir():
        return target
    for folder in (_SHARED.parent, _SHARED):
        folder.mkdir(exist_ok=True)
        if folder.stat().st_uid or folder.is_symlink():
            raise OSError(f"{folder} is not root's")
        folder.chmod(0o755)  # Whatever the umask is.
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


def _everything(folder: str, names: list[str]) -> list[str]:
    return []


def _only_the_interpreter(folder: str, names: list[str]) -> list[str]:
    """Skip packages, tests and what is for compiling: an installation is a tenth of its size without them."""
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
