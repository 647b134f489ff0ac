"""A savepoint that is set before the first statement of a block: most projections have nothing to do for most events."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import Error, OperationalError, connection, transaction

Execute = Callable[[Any, Any, bool, dict[str, Any]], Any]


class ConnectionLost(OperationalError):
    """The statements of a block cannot be undone alone, so the whole transaction is lost."""


@contextmanager
def lazy_savepoint() -> Iterator[None]:
    """Undo the statements of the block if it raises; the transaction around it continues.

    Raises `ConnectionLost` if that is impossible.
    """
    begun: list[Any] = []

    def before(execute: Execute, sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if not begun:
            begun.append(None)  # The statement that sets the savepoint comes here too.
            begun[0] = transaction.savepoint()
        return execute(sql, params, many, context)

    try:
        with connection.execute_wrapper(before):
            yield
    except Exception as error:
        if begun or isinstance(error, Error):  # A database error before the first statement is one of the connection.
            _undo(begun[0] if begun else None, error)
        raise
    if begun:
        transaction.savepoint_commit(begun[0])


def _undo(savepoint: Any, error: Exception) -> None:
    try:
        if savepoint is None:
            raise OperationalError("the savepoint could not be set")
        transaction.savepoint_rollback(savepoint)
        transaction.set_rollback(False)
    except Exception as lost:
        raise ConnectionLost(f"the connection was lost in a projection: {error}") from lost
