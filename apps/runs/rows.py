"""Bulk inserts of the journal's three hot tables as plain SQL.

`bulk_create` prepares every value of every row in Python, which was half of the writer's time (benchmarks/journal.py); columns
are still read from the models, so that a migration cannot be forgotten here.
"""

import functools
import json
from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.db import connection, models

from apps.runs.models import Blob, RunEvent, Step


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


def insert(model: type[RunEvent] | type[Step] | type[Blob], rows: Sequence[models.Model]) -> None:
    """Insert the rows in one statement, inside the caller's transaction."""
    if not rows:
        return
    statement, names, json_at, times_at = _columns(model)
    values_of = attrgetter(*names)
    with connection.cursor() as cursor:
        cursor.executemany(statement, [_prepared(values_of(row), json_at, times_at) for row in rows])


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
