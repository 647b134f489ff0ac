"""Token shards for the export: verified by hash, a few open at a time, columns without copies."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.rows import Row

COLUMNS = {"prompt_ids": pa.int32(), "completion_ids": pa.int32(), "loss_mask": pa.int8(), "logprobs": pa.float32()}
OPEN_AT_ONCE = 16
#: File with the new places of merged shards' rows (apps/datasets/tokens/merging.py).
MERGED = "merged.json"


class BrokenShard(NotLearnable):
    """A shard is missing, truncated or changed; the message names it."""


class Shard:
    """Columns of one shard."""

    def __init__(self, path: Path, sha256: str, name: str) -> None:
        """Read and verify a shard. Raises `BrokenShard`."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise BrokenShard(f"The token shard {name} cannot be read ({error.strerror}).") from error
        if hashlib.sha256(data).hexdigest() != sha256:
            raise BrokenShard(f"The token shard {name} is truncated or was changed: its SHA-256 differs from the recorded one.")
        try:
            table = pq.read_table(pa.BufferReader(data), columns=list(COLUMNS))
        except (pa.ArrowException, OSError) as error:
            raise BrokenShard(f"The token shard {name} is not a valid Parquet file: {str(error).splitlines()[0]}") from error
        self.name = name
        self.rows = table.num_rows
        self.columns = {name: _one(table.column(name), kind) for name, kind in COLUMNS.items()}
        self.offsets = {name: column.offsets.to_numpy() for name, column in self.columns.items()}

    def column(self, name: str, row: int) -> "StoredList | None":
        """Values of a row; None where it is null. Raises `BrokenShard` for a row beyond the end."""
        if row >= self.rows:
            raise BrokenShard(f"The token shard {self.name} has {self.rows} rows; row {row} was recorded.")
        return StoredList(self, name, row) if self.columns[name][row].is_valid else None


class StoredList(Sequence[Any]):
    """One list of a shard; its length is known without reading it."""

    __slots__ = ("_name", "_row", "_shard")

    def __init__(self, shard: Shard, name: str, row: int) -> None:
        self._shard, self._name, self._row = shard, name, row

    def __len__(self) -> int:
        offsets = self._shard.offsets[self._name]
        return int(offsets[self._row + 1] - offsets[self._row])

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Any]: ...
    def __getitem__(self, place: int | slice) -> Any:
        return self.values()[place].tolist()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values().tolist())

    def values(self) -> "np.ndarray[Any, Any]":
        """Values as a numpy array."""
        offsets = self._shard.offsets[self._name]
        flat = self._shard.columns[self._name].values
        found: np.ndarray[Any, Any] = flat.slice(int(offsets[self._row]), len(self)).to_numpy()
        return found

    def as_list(self) -> Any:
        """An Arrow list array of this one list, without a copy."""
        return self._shard.columns[self._name].slice(self._row, 1)


@dataclass(frozen=True)
class Part:
    """Rows of a shard that was merged into another."""

    whole: "Shard | Part"
    first: int
    rows: int

    def column(self, name: str, row: int) -> "StoredList | None":
        """Like `Shard.column`. Raises `BrokenShard`."""
        if row >= self.rows:
            raise BrokenShard(f"A merged token shard had {self.rows} rows; row {row} was recorded.")
        return self.whole.column(name, self.first + row)


class Shards:
    """Shards below a folder; the last few stay open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: OrderedDict[str, Shard] = OrderedDict()

    def get(self, uri: str, sha256: str) -> Shard | Part:
        """Shard of this name, or its part of the shard it was merged into. Raises `BrokenShard`."""
        if uri in self._open:
            self._open.move_to_end(uri)
            return self._open[uri]
        path = (self._folder / uri).resolve()
        if not path.is_relative_to(self._folder.resolve()):
            raise BrokenShard(f"The token shard {uri} is outside the folder of tokens.")
        if not path.exists() and (merged := _merged(path.with_name(MERGED), uri)):
            return Part(self.get(merged["shard"], merged["sha256"]), merged["first"], merged["rows"])
        shard = self._open[uri] = Shard(path, sha256, uri)
        while len(self._open) > OPEN_AT_ONCE:
            self._open.popitem(last=False)
        return shard


def _merged(index: Path, uri: str) -> dict[str, Any] | None:
    try:
        found = json.loads(index.read_text(encoding="utf-8")).get(uri)
    except (OSError, ValueError, AttributeError):
        return None
    return found if isinstance(found, dict) else None


def _one(column: Any, kind: Any) -> Any:
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], pa.list_(kind))
    return whole.cast(pa.list_(kind))


def has_own(row: Row) -> bool:
    """Whether a row has any tokens of the policy's own; texts without tokens count as own."""
    mask = row.loss_mask
    return not len(mask) or bool(mask.values().any() if isinstance(mask, StoredList) else any(mask))
