"""Several reads that see the database as it is at one moment, while runs write to it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from django.db import connection, transaction


@contextmanager
def one_moment() -> Iterator[None]:
    """Only read in here: nothing that is committed after the first read is seen. Also a decorator of views that only read.

    Inside a transaction that is open already, reads see what that transaction sees.
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
