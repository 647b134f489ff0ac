"""Cells and scores as CSV and Parquet."""

import typing
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from apps.experiments.solving.files.rows import CellRow, ScoreRow
from apps.files import csv_files

GROUP = 5_000
Row = CellRow | ScoreRow
_ARROW: dict[type, pa.DataType] = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


def csv_of(kind: type[NamedTuple], rows: Iterable[Row]) -> Iterator[str]:
    """A heading and one line a row. Texts that a spreadsheet would compute begin with an apostrophe."""
    return csv_files.csv_lines(kind._fields, (row._asdict() for row in rows))


def parquet_write(kind: type[NamedTuple], rows: Iterable[Row], out: BinaryIO) -> None:
    """Write a Parquet file with the types of the row model."""
    schema = schema_of(kind)
    left = iter(rows)
    with pq.ParquetWriter(out, schema) as writer:
        while some := list(islice(left, GROUP)):
            writer.write_table(pa.Table.from_pylist([row._asdict() for row in some], schema=schema))


def schema_of(kind: type[NamedTuple]) -> pa.Schema:
    """The columns of a row. A type with None is nullable."""
    fields = []
    for name, hint in typing.get_type_hints(kind).items():
        types = [one for one in typing.get_args(hint) or (hint,) if one is not type(None)]
        fields.append(pa.field(name, _ARROW[types[0]], nullable=len(types) < len(typing.get_args(hint))))
    return pa.schema(fields)
