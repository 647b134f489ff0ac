"""Consistent reads: several queries that see one snapshot of the database."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from django.db import connection, transaction


@contextmanager
def one_moment() -> Iterator[None]:
    """Read one snapshot: commits after the first read are invisible. Read-only; also a decorator for views.

    Inside an open transaction, reads use that transaction.
    """
    if connection.in_atomic_block:
        yield
        return
    with ExitStack() as stack:
        if connection.vendor == "sqlite":
            _enter_as_reader(stack)
        else:
            stack.enter_context(transaction.atomic())
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def _enter_as_reader(stack: ExitStack) -> None:
    """On SQLite our transactions begin as writers (settings.DATABASES); a reader neither waits for one nor holds one up."""
    connection.ensure_connection()
    sqlite: Any = connection
    begins_as, sqlite.transaction_mode = sqlite.transaction_mode, "DEFERRED"
    try:
        stack.enter_context(transaction.atomic())
    finally:
        sqlite.transaction_mode = begins_as
