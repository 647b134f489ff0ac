"""Rows as Parquet: written atomically, read with clear errors about invalid shards."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

import pyarrow as pa
import pyarrow.parquet as pq

from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.rows import COLUMNS, Leak, Row, arrow_schema, check_row
from workers.training.problems import BadRows

NAMES = tuple(name for name, _ in COLUMNS)
BATCH = 1024


def write_rows(path: Path, rows: Iterable[Row], *, batch: int = BATCH) -> int:
    """Write a shard (zstd) atomically; return its number of rows."""
    partial = path.with_name(f".{path.name}.partial")
    schema, count = arrow_schema(), 0
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with pq.ParquetWriter(partial, schema, compression="zstd") as writer:
            for part in _parts(rows, batch):
                writer.write_table(pa.Table.from_pylist([_plain(row) for row in part], schema=schema))
                count += len(part)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return count


def read_rows(path: Path, **needs: bool) -> Iterator[Row]:
    """Checked rows of a shard, read in batches; `needs` are those of `check_row`.

    Raises `BadRows` for a truncated shard, missing columns and invalid rows; `Leak` for a row of another split. Both name the
    file and the row, counted from 0.
    """
    number = 0
    for batch in _batches(path):
        for values in batch.to_pylist():
            row = Row(**values)
            where = f"{path.name}, row {number}"
            try:
                check_row(row, where, **needs)
            except Leak:
                raise
            except NotLearnable as problem:
                raise BadRows(str(problem)) from problem
            yield row
            number += 1


def check_shards(folder: Path, recorded: Mapping[str, str]) -> None:
    """Compare the shards with the hashes of the dataset's manifest. Raises `BadRows` naming the first difference."""
    there = {path.name: path for path in folder.glob("*.parquet")}
    for name in sorted(recorded.keys() | there.keys()):
        if name not in there:
            raise BadRows(f"The shard {name} of the dataset's manifest is missing.")
        if name not in recorded:
            raise BadRows(f"The shard {name} is not in the dataset's manifest.")
        with there[name].open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != recorded[name]:
                raise BadRows(f"The shard {name} does not match its hash in the manifest: it is truncated or was changed.")


def stream_facts(path: Path) -> dict[str, Any]:
    """Metadata of a shard from a stream's producer (docs/datasets.md); empty for other shards. Raises `BadRows`."""
    try:
        metadata = (pq.read_schema(path).metadata or {}).get(b"stream", b"{}")
    except (pa.ArrowException, OSError) as error:
        raise _invalid_file(path, error) from error
    found: dict[str, Any] = json.loads(metadata)
    return found


class TableRows(Sequence[Row]):
    """Rows of a folder's shards, in order of their names: checked once, stored as Arrow, converted to `Row` on access."""

    def __init__(self, folder: Path, **needs: bool) -> None:
        """Read and check all shards. Raises like `read_rows`, and `BadRows` without a shard."""
        shards = sorted(folder.glob("*.parquet"))
        if not shards:
            raise BadRows(f"There is no Parquet file in {folder.name}/.")
        for shard in shards:
            for _ in read_rows(shard, **needs):
                pass
        self._table = pa.concat_tables([pq.read_table(shard, columns=list(NAMES)) for shard in shards])

    @property
    def problems(self) -> list[str]:
        """Problem of every row."""
        found: list[str] = self._table["problem_id"].to_pylist()
        return found

    def __len__(self) -> int:
        return int(self._table.num_rows)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        if not 0 <= place < len(self):
            raise IndexError(place)
        return Row(**self._table.slice(place, 1).to_pylist()[0])


def _batches(path: Path) -> Iterator[Any]:
    try:
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            other = [name for name in NAMES if name not in schema.names]
            if other:
                raise BadRows(f"{path.name} has no column “{other[0]}”; docs/learning_jobs.md lists the columns.")
            yield from file.iter_batches(batch_size=BATCH, columns=list(NAMES))
    except (pa.ArrowException, OSError) as error:
        raise _invalid_file(path, error) from error


def _invalid_file(path: Path, error: Exception) -> BadRows:
    return BadRows(f"{path.name} is not a complete Parquet file: {str(error).splitlines()[0]}")


def _plain(row: Row) -> dict[str, Any]:
    return {name: getattr(row, name) for name in NAMES}


def _parts(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    part: list[Row] = []
    for row in rows:
        part.append(row)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part
