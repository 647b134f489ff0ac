"""Keeps `DATA_DIR` private to the user who runs the processes: folders 0700, files 0600.

It contains sessions, password hashes, unpublished problems and captured tokens. Each process sets its umask before it writes.
At the start, files that an older version left open are closed. This module does not import Django, because the umask comes
first.
"""

import logging
import os
import stat
from dataclasses import dataclass
from pathlib import Path

logger = logging.getLogger(__name__)
UMASK = 0o077
#: Our entries in `DATA_DIR`. Other entries belong to the operator and are not changed.
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
#: Commands whose files other users must read: one user builds static files, another serves them.
_PUBLIC = {"collectstatic", "vendor_assets"}


@dataclass
class Closed:
    """Numbers of entries that were open and are closed now, and of entries that could not be closed."""

    closed: int = 0
    still_open: int = 0


class ForeignFolder(Exception):
    """The folder belongs to another user. The message says what to do."""


def umask_set(command: str = "") -> None:
    """Make new files private to their owner, in this process and its children."""
    if command not in _PUBLIC:
        os.umask(UMASK)


def data_folder_close(folder: Path) -> Closed:
    """Remove other users' rights from the folder and our entries in it. Log if there were any."""
    found = Closed()
    if not folder.is_dir():
        return found
    if _is_shared(folder):
        found.still_open += 1
    else:
        _close(folder, found)
    for pattern in PARTS:
        for path in folder.glob(pattern):
            _close_tree(path, found)
    if found.closed:
        logger.warning("%s was open to other users of this machine; closed %d files and folders", folder, found.closed)
    if found.still_open:
        logger.warning(
            "%s is open to other users of this machine; make the user of this process its owner, or set DATA_DIR", folder
        )
    return found


def own_folder(folder: Path) -> None:
    """Create a folder that no other user can enter. Raises `ForeignFolder` if it belongs to another user; `OSError`."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
        raise ForeignFolder(f"{folder} belongs to another user. Remove it, or set DATA_DIR to a folder of yours.")
    folder.chmod(0o700)


def _is_shared(folder: Path) -> bool:
    """Whether it is the root of the file system or a folder like /tmp, which must stay open to all users."""
    state = folder.stat()
    return folder.resolve() == Path(folder.anchor) or bool(state.st_mode & stat.S_ISVTX) or state.st_uid != os.geteuid()


def _close_tree(path: Path, found: Closed, depth: int = 0) -> None:
    """Close an entry and its content. A closed folder two levels down is not searched, because others cannot enter it."""
    try:
        state = path.lstat()
        if stat.S_ISLNK(state.st_mode):
            return
        was_open = _close(path, found)
        is_searched = stat.S_ISDIR(state.st_mode) and (was_open or depth < 2) and os.access(path, os.R_OK | os.X_OK)
        inside = list(path.iterdir()) if is_searched else []
    except FileNotFoundError:  # Another process has removed it, such as an unfinished file or a database log.
        return
    for child in inside:
        _close_tree(child, found, depth + 1)


def _close(path: Path, found: Closed) -> bool:
    """Close an entry; True if it was open. Entries of other users, such as models copied by root, stay in a closed folder."""
    state = path.stat()
    if not state.st_mode & UMASK or state.st_uid != os.geteuid():
        return False
    try:
        path.chmod(stat.S_IMODE(state.st_mode) & ~UMASK)
    except FileNotFoundError:
        raise
    except OSError:  # A read-only file system.
        found.still_open += 1
    else:
        found.closed += 1
    return True
