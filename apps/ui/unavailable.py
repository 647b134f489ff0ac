"""Temporary errors of the stores and the disk, and their words for pages.

A lock, a full disk or a lost connection is not a program error: the response is 503 with advice. Other errors stay 500.
"""

import errno
import sqlite3

import psycopg
import redis
from django.db import InterfaceError, OperationalError


class Unavailable(Exception):
    """The server cannot do this now. Its texts say what happened, what it means and what to do."""

    retry_after_s = 10
    headline = "The server cannot do this now."
    explanation = ""
    #: Effect on a sent change: a later step may have failed, such as saving the session.
    saved = "Your change may not have been saved. Check before you send it again."
    advice = "Try again in a few seconds. If it happens again, contact the people who run this site."


class StoreLocked(Unavailable):
    """Another process holds a lock longer than a statement may wait."""

    headline = "The database is busy."
    explanation = "Another process has held a lock on it for too long."


class StoreSlow(Unavailable):
    """A statement exceeded its time limit."""

    headline = "The database took too long."
    explanation = "It is overloaded, or your request is very large."


class StoreFull(Unavailable):
    """The disk is full or read-only."""

    retry_after_s = 60
    headline = "The server has no room left to save anything."
    explanation = "Its disk is full or read-only. Everything recorded before is kept."
    advice = "Contact the people who run this site. Try again when they have freed space."


class StoreAway(Unavailable):
    """The database or the broker does not answer, or accepts no more connections."""

    headline = "The database or the broker of this site does not answer."
    explanation = "It may be restarting. Everything recorded before is kept."


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
    """The temporary state of the server behind an error; None for program errors."""
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
    if state is None:  # No answer: a lost connection, or no free connection in the pool.
        return StoreAway()
    return next((kind() for prefix, kind in _POSTGRESQL.items() if state.startswith(prefix)), None)
