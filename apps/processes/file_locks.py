"""Locks on files of the data folder, between processes of one machine or over a network file system whose locks work."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class LockHeld(Exception):
    """Another process holds the lock."""


def up_lock(data_dir: Path) -> Path:
    """Lock for `manage.py up` and `manage.py restore` on a data folder."""
    return data_dir / "run" / "up.lock"


def deletion_lock(data_dir: Path) -> Path:
    """Lock for deletions of files; backups, which copy files, share it."""
    return data_dir / "run" / "deletion.lock"


@contextmanager
def file_lock(path: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock for the block without waiting. Raises `LockHeld`, and `OSError` if the file cannot be written."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with path.open("a") as lock:
        try:
            fcntl.flock(lock, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise LockHeld(str(path)) from error
        yield
