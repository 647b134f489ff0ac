"""Keeps one connection to the SQLite file open for as long as a process lives.

SQLite holds its locks with `fcntl`. A process loses all its locks on a file when it closes any descriptor of that file. SQLite
therefore delays a close while the process holds a lock. In 3.40 a close of the process's last connection can still meet the
first lock of another thread. That thread then works without its lock, another process removes the log under it, and committed
rows are lost ("disk I/O error", "database disk image is malformed"). With an open connection no close is ever the last one.
See docs/adr/0034.
"""

import sqlite3
import threading
from pathlib import Path
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

_lock = threading.Lock()
#: The open connection of each database file of this process, by device and inode, because a restore replaces the file.
_anchors: dict[tuple[int, int], sqlite3.Connection] = {}


def follow_connections() -> None:
    """Open the anchor with the first connection of this process to each SQLite file."""
    connection_created.connect(_anchor, dispatch_uid="sqlite_anchor")


def _anchor(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Runs before the new connection can be closed, so that the first close is already not the last."""
    if connection.vendor != "sqlite" or connection.is_in_memory_db():  # type: ignore[attr-defined]
        return
    path = Path(connection.settings_dict["NAME"])
    state = path.stat()
    with _lock:
        if (file := (state.st_dev, state.st_ino)) in _anchors:
            return
        anchor = sqlite3.connect(path, timeout=20, isolation_level=None, check_same_thread=False)
        anchor.execute("SELECT count(*) FROM sqlite_master").fetchall()  # A connection has no lock before it has read.
        _anchors[file] = anchor
