"""`DATA_DIR` belongs to the user who runs the processes, and to no other: folders 0700, files 0600.

Sessions, password hashes, unpublished problems and captured tokens lie there. Each process sets its umask before it writes, and
what an older version left open is closed at the start. It imports nothing of Django: the umask comes first.
"""

import logging
import os
import stat
from dataclasses import dataclass
from pathlib import Path

logger = logging.getLogger(__name__)
UMASK = 0o077
#: What we keep in `DATA_DIR`. Anything else there belongs to the operator and is left alone.
PARTS = (
    "datasets",
    "lemmascope.sqlite3*",
    "log",
    "models",
    "run",
    "secret_key*",
    "test.sqlite3*",
    "tokens",
    "training",
    "valkey",
)
#: Commands whose files other users must read: static files are built as one user and served as another.
_PUBLIC = {"collectstatic", "vendor_assets"}


@dataclass
class Closed:
    """What was found: entries that were open and are closed now, and those that could not be."""

    mended: int = 0
    open_still: int = 0


class NotOurs(Exception):
    """The folder belongs to another user; the message says what to do."""


def umask_set(command: str = "") -> None:
    """Create files for their owner only, here and in every child process."""
    if command not in _PUBLIC:
        os.umask(UMASK)


def data_folder_close(folder: Path) -> Closed:
    """Take the rights of other users away from the folder and from what we keep in it; log where there were any."""
    found = Closed()
    if not folder.is_dir():
        return found
    if _is_shared(folder):
        found.open_still += 1
    else:
        _close(folder, found)
    for pattern in PARTS:
        for path in folder.glob(pattern):
            _close_tree(path, found)
    if found.mended:
        logger.warning("%s was open to other users of this machine: %d files and folders are closed now", folder, found.mended)
    if found.open_still:
        logger.warning(
            "%s is open to other users of this machine: give it to the user of this process, or set DATA_DIR", folder
        )
    return found


def own_folder(folder: Path) -> None:
    """Make a folder that no other user can enter. Raises `NotOurs` where another user has made it before, `OSError`."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
        raise NotOurs(f"{folder} belongs to another user. Remove it, or set DATA_DIR to a folder of yours.")
    folder.chmod(0o700)


def _is_shared(folder: Path) -> bool:
    """A root of the file system, or a folder like /tmp: closing it would close it for everybody."""
    state = folder.stat()
    return folder.resolve() == Path(folder.anchor) or bool(state.st_mode & stat.S_ISVTX) or state.st_uid != os.geteuid()


def _close_tree(path: Path, found: Closed, depth: int = 0) -> None:
    """Close an entry and what is in it. A closed folder two levels down is not searched: its inside cannot be reached."""
    try:
        state = path.lstat()
        if stat.S_ISLNK(state.st_mode):
            return
        was_open = _close(path, found)
        is_searched = stat.S_ISDIR(state.st_mode) and (was_open or depth < 2) and os.access(path, os.R_OK | os.X_OK)
        inside = list(path.iterdir()) if is_searched else []
    except FileNotFoundError:  # Other processes run meanwhile: it is gone, as unfinished files and the log of a database go.
        return
    for child in inside:
        _close_tree(child, found, depth + 1)


def _close(path: Path, found: Closed) -> bool:
    """Whether the entry was open. What belongs to others, as models copied by root, stays: its folder is closed."""
    state = path.stat()
    if not state.st_mode & UMASK or state.st_uid != os.geteuid():
        return False
    try:
        path.chmod(stat.S_IMODE(state.st_mode) & ~UMASK)
    except FileNotFoundError:
        raise
    except OSError:  # A file system that is mounted for reading.
        found.open_still += 1
    else:
        found.mended += 1
    return True
