"""The journal's hot writes as plain SQL: inserts into its three tables, and the counters of the run.

Model instances, `bulk_create` and F expressions were more than half of the writer's time (benchmarks/journal.py). Columns of
the inserts are still read from the models, so a row that lacks a new column fails at once.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

from django.db import connection, models

from apps.runs.models import Blob, Run, RunEvent, Step

_ADVANCE = (
    f"UPDATE {Run._meta.db_table} SET last_seq = %s, calls = calls + %s, prompt_tokens = prompt_tokens + %s, "  # noqa: S608
    "completion_tokens = completion_tokens + %s WHERE id = %s AND fence = %s"
)


@functools.cache
def _columns(model: type[models.Model]) -> tuple[str, tuple[str, ...], tuple[int, ...], tuple[int, ...]]:
    """The INSERT statement, attribute names, and which positions hold JSON and which times."""
    fields = [field for field in model._meta.concrete_fields if not isinstance(field, models.AutoField)]
    quote = connection.ops.quote_name
    names = ", ".join(quote(str(field.column)) for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    statement = f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES ({marks})"  # noqa: S608  (names of ours)
    if model is Blob:
        statement += " ON CONFLICT DO NOTHING"
    return (
        statement,
        tuple(field.attname for field in fields),
        tuple(at for at, field in enumerate(fields) if isinstance(field, models.JSONField)),
        tuple(at for at, field in enumerate(fields) if isinstance(field, models.DateTimeField)),
    )


def insert(model: type[RunEvent] | type[Step] | type[Blob], rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows, values by attribute name, in one statement inside the caller's transaction."""
    if not rows:
        return
    statement, names, json_at, times_at = _columns(model)
    values_of = itemgetter(*names)
    with connection.cursor() as cursor:
        cursor.executemany(statement, [_prepared(values_of(row), json_at, times_at) for row in rows])


def advance(run_pk: int, fence: int, *, last_seq: int, calls: int, prompt_tokens: int, completion_tokens: int) -> bool:
    """Move the run's last event and add to its counters. False where another owner has moved its fence."""
    with connection.cursor() as cursor:
        cursor.execute(_ADVANCE, [last_seq, calls, prompt_tokens, completion_tokens, run_pk, fence])
        return bool(cursor.rowcount == 1)


def _prepared(values: tuple[Any, ...], json_at: tuple[int, ...], times_at: tuple[int, ...]) -> list[Any]:
    prepared = list(values)
    for at in json_at:
        if prepared[at] is not None and not isinstance(prepared[at], str):
            prepared[at] = json.dumps(prepared[at])
    for at in times_at:
        prepared[at] = _time(prepared[at])
    return prepared


@functools.lru_cache(maxsize=64)
def _time(value: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(value)
