"""What the server cannot do just now: which errors of the stores and the disk pass by themselves, and how a page words them.

A lock, a full disk or a lost connection is no fault of the program: it answers 503 with advice. All other errors stay 500.
"""

import errno
import sqlite3

import psycopg
import redis
from django.db import InterfaceError, OperationalError


class Unavailable(Exception):
    """The server cannot do this now. The words say what happened, what it means and what to do."""

    retry_after_s = 10
    headline = "The server cannot do this now."
    explanation = ""
    #: What it means for a change that was sent: what failed may be something that came after it, such as the session.
    saved = "What you sent may not have been saved: look whether it is there before you send it again."
    advice = "Try again in a few seconds. If it happens again, tell the people who run this site."


class StoreLocked(Unavailable):
    """Another process holds a lock for longer than a statement may wait."""

    headline = "The database is busy."
    explanation = "Another process has been writing to it for too long."


class StoreSlow(Unavailable):
    """A statement took longer than it may."""

    headline = "The database took too long."
    explanation = "It is overloaded, or what you asked for is very large."


class StoreFull(Unavailable):
    """No room on the disk, or nothing may be written to it."""

    retry_after_s = 60
    headline = "The server has no room left to save anything."
    explanation = "Its disk is full or cannot be written. Everything recorded before is kept."
    advice = "Tell the people who run this site. Try again when they have made room."


class StoreAway(Unavailable):
    """The database or the broker does not answer, or takes no more connections."""

    headline = "The database or the broker of this site does not answer."
    explanation = "It may be starting again. Everything recorded before is kept."


_SQLITE = {
    sqlite3.SQLITE_BUSY: StoreLocked,
    sqlite3.SQLITE_LOCKED: StoreLocked,
    sqlite3.SQLITE_FULL: StoreFull,
    sqlite3.SQLITE_READONLY: StoreFull,
    sqlite3.SQLITE_IOERR: StoreFull,
    sqlite3.SQLITE_CANTOPEN: StoreAway,
}
#: SQLSTATEs of PostgreSQL, the longest prefix first.
_POSTGRESQL = {
    "55P03": StoreLocked,
    "40P01": StoreLocked,
    "40001": StoreLocked,
    "57014": StoreSlow,
    "53100": StoreFull,
    "25006": StoreFull,
    "58030": StoreFull,
    "08": StoreAway,
    "53": StoreAway,
    "57": StoreAway,
}
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}


def unavailable_of(error: BaseException | None) -> Unavailable | None:
    """What the error says about the server's state; None for errors of the program."""
    if isinstance(error, Unavailable):
        return error
    if isinstance(error, OperationalError | InterfaceError):
        return _of_database(error.__cause__)
    if isinstance(error, redis.OutOfMemoryError):
        return StoreFull()
    if isinstance(error, redis.ConnectionError | redis.TimeoutError):
        return StoreAway()
    return StoreFull() if isinstance(error, OSError) and error.errno in _NO_ROOM else None


def _of_database(cause: BaseException | None) -> Unavailable | None:
    if isinstance(cause, sqlite3.Error):
        found = _SQLITE.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF)  # The low byte is the primary code.
        return found() if found else None
    if not isinstance(cause, psycopg.Error):
        return None
    state = cause.sqlstate
    if state is None:  # No answer at all: a lost connection, or a pool without a free one.
        return StoreAway()
    return next((kind() for prefix, kind in _POSTGRESQL.items() if state.startswith(prefix)), None)
