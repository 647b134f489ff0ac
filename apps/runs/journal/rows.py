"""The hot statements of the journal and of its projections as plain SQL: inserts, updates by primary key, rows by name, the
run's counters.

Model instances, `bulk_create`, `bulk_update` and F expressions were more than half of the writer's time (benchmarks/journal.py,
benchmarks/contest/contest.py). Columns are still read from the models, so a row that lacks a new column fails at once.
"""

import functools
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Any, TypeVar

from django.db import connection, models

from apps.runs.models import Run

M = TypeVar("M", bound=models.Model)
COUNTERS = (
    "calls", "prompt_tokens", "completion_tokens", "inherited_calls", "inherited_prompt_tokens", "inherited_completion_tokens",
    "money",
)  # fmt: skip
_ADVANCE = (
    f"UPDATE {Run._meta.db_table} SET last_seq = %s, {', '.join(f'{name} = {name} + %s' for name in COUNTERS)}, "  # noqa: S608
    "rounds = CASE WHEN rounds < %s THEN %s ELSE rounds END WHERE id = %s AND fence = %s"
)


@dataclass(frozen=True)
class _Statement:
    """SQL with one mark for each attribute, and which positions hold JSON and which times."""

    sql: str
    names: tuple[str, ...]
    json_at: tuple[int, ...]
    times_at: tuple[int, ...]

    def run(self, rows: Sequence[Mapping[str, Any]]) -> None:
        if not rows:
            return
        values_of = itemgetter(*self.names)
        with connection.cursor() as cursor:
            cursor.executemany(self.sql, [_prepared(values_of(row), self.json_at, self.times_at) for row in rows])


def insert(model: type[models.Model], rows: Sequence[Mapping[str, Any]], *, new_only: bool = False) -> None:
    """Insert the rows, values by attribute name, inside the caller's transaction.

    `new_only`: a row that violates a unique constraint is skipped.
    """
    _insert(model, new_only).run(rows)


def load(model: type[M], run_pk: int, name: str, values: Collection[str]) -> list[M]:
    """The rows of a run whose attribute `name` is one of `values`, as instances.

    For the writer's every commit: compiling the same query again took most of the time of a manager's `filter`.
    """
    query = _query(model, name)
    with connection.cursor() as cursor:
        cursor.execute(query.sql.format(", ".join(["%s"] * len(values))), [run_pk, *values])
        found = [list(row) for row in cursor.fetchall()]
    for at, column, convert in query.converters:
        for row in found:
            row[at] = convert(row[at], column, connection)
    return [model.from_db("default", query.names, row) for row in found]


def plain(model: type[models.Model], run_pk: int, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """The attributes `names` of all rows of a run as the database has them: JSON is text."""
    fields = {field.attname: field for field in model._meta.concrete_fields}
    quote = connection.ops.quote_name
    selected = ", ".join(quote(str(fields[name].column)) for name in names)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {selected} FROM {quote(model._meta.db_table)} WHERE run_id = %s", [run_pk])  # noqa: S608
        return cursor.fetchall()  # type: ignore[no-any-return]


def update(model: type[models.Model], names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the attributes `names` of the rows, each found by its `id`, inside the caller's transaction."""
    _update(model, tuple(names)).run(rows)


@dataclass(frozen=True)
class _Query:
    """SQL with a run's mark and a place for those of the values; what turns the database's values into Python's."""

    sql: str
    names: tuple[str, ...]
    converters: tuple[tuple[int, Any, Callable[..., Any]], ...]


@functools.cache
def _query(model: type[models.Model], name: str) -> _Query:
    fields = model._meta.concrete_fields
    table, quote = model._meta.db_table, connection.ops.quote_name
    wanted = quote(next(str(field.column) for field in fields if field.attname == name))
    columns = [field.get_col(table) for field in fields]
    converters = tuple(
        (at, column, convert)
        for at, column in enumerate(columns)
        for convert in (*connection.ops.get_db_converters(column), *column.get_db_converters(connection))
    )
    selected = ", ".join(quote(str(field.column)) for field in fields)
    sql = f"SELECT {selected} FROM {quote(table)} WHERE {quote('run_id')} = %s AND {wanted} IN ({{}})"  # noqa: S608
    return _Query(sql, tuple(field.attname for field in fields), converters)


@functools.cache
def _insert(model: type[models.Model], new_only: bool) -> _Statement:
    fields = [field for field in model._meta.concrete_fields if not isinstance(field, models.AutoField)]
    quote = connection.ops.quote_name
    columns, marks = ", ".join(quote(str(field.column)) for field in fields), ", ".join(["%s"] * len(fields))
    sql = f"INSERT INTO {quote(model._meta.db_table)} ({columns}) VALUES ({marks})"  # noqa: S608  (names of ours)
    return _statement(sql + " ON CONFLICT DO NOTHING" * new_only, fields)


@functools.cache
def _update(model: type[models.Model], names: tuple[str, ...]) -> _Statement:
    fields = {field.attname: field for field in model._meta.concrete_fields}
    quote = connection.ops.quote_name
    changes = ", ".join(f"{quote(str(fields[name].column))} = %s" for name in names)
    sql = f"UPDATE {quote(model._meta.db_table)} SET {changes} WHERE id = %s"  # noqa: S608  (names of ours)
    return _statement(sql, [*(fields[name] for name in names), fields["id"]])


def _statement(sql: str, fields: "Sequence[models.Field[Any, Any]]") -> _Statement:
    return _Statement(
        sql,
        tuple(field.attname for field in fields),
        tuple(at for at, field in enumerate(fields) if isinstance(field, models.JSONField)),
        tuple(at for at, field in enumerate(fields) if isinstance(field, models.DateTimeField)),
    )


def advance(run_pk: int, fence: int, *, last_seq: int, spent: Mapping[str, float], round_: int) -> bool:
    """Move the run's last event and its round, and add `spent` to its `COUNTERS`; `money` without prices stays null.

    False where another owner has moved its fence.
    """
    with connection.cursor() as cursor:
        cursor.execute(_ADVANCE, [last_seq, *(spent[name] for name in COUNTERS), round_, round_, run_pk, fence])
        return bool(cursor.rowcount == 1)


def _prepared(values: tuple[Any, ...], json_at: tuple[int, ...], times_at: tuple[int, ...]) -> list[Any]:
    prepared = list(values)
    for at in json_at:
        if prepared[at] is not None and not isinstance(prepared[at], str):
            prepared[at] = json.dumps(prepared[at], separators=(",", ":"))
    for at in times_at:
        prepared[at] = _time(prepared[at])
    return prepared


@functools.lru_cache(maxsize=64)
def _time(value: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(value)
