"""Token shards as the export reads them: checked against their hash, a few open at a time, columns without copies."""

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

from workers.learning.arrays import NotLearnable
from workers.learning.rows import Row

COLUMNS = {"prompt_ids": pa.int32(), "completion_ids": pa.int32(), "loss_mask": pa.int8(), "logprobs": pa.float32()}
OPEN_AT_ONCE = 16
#: Where the rows of shards lie that were merged into another (apps/datasets/merging.py).
MERGED = "merged.json"


class BrokenShard(NotLearnable):
    """A shard is missing, cut off or changed; the text names it."""


class Shard:
    """The columns of one shard."""

    def __init__(self, path: Path, sha256: str, name: str) -> None:
        """Raises `BrokenShard`."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise BrokenShard(f"The token shard {name} cannot be read ({error.strerror}).") from error
        if hashlib.sha256(data).hexdigest() != sha256:
            raise BrokenShard(f"The token shard {name} is cut off or was changed: its SHA-256 is not the recorded one.")
        try:
            table = pq.read_table(pa.BufferReader(data), columns=list(COLUMNS))
        except (pa.ArrowException, OSError) as error:
            raise BrokenShard(f"The token shard {name} is no whole Parquet file: {str(error).splitlines()[0]}") from error
        self.name = name
        self.rows = table.num_rows
        self.columns = {name: _one(table.column(name), kind) for name, kind in COLUMNS.items()}
        self.offsets = {name: column.offsets.to_numpy() for name, column in self.columns.items()}

    def column(self, name: str, row: int) -> "Drawn | None":
        """The values of a row, or None where there are none. Raises `BrokenShard` for a row that it has not."""
        if row >= self.rows:
            raise BrokenShard(f"The token shard {self.name} has {self.rows} rows; row {row} was recorded.")
        return Drawn(self, name, row) if self.columns[name][row].is_valid else None


class Drawn(Sequence[Any]):
    """One list of a shard: as long as it is, without being read."""

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
        """The numbers."""
        offsets = self._shard.offsets[self._name]
        flat = self._shard.columns[self._name].values
        found: np.ndarray[Any, Any] = flat.slice(int(offsets[self._row]), len(self)).to_numpy()
        return found

    def as_list(self) -> Any:
        """An Arrow list array of this one list, without a copy."""
        return self._shard.columns[self._name].slice(self._row, 1)


@dataclass(frozen=True)
class Part:
    """The rows of a shard that was merged into another."""

    whole: "Shard | Part"
    first: int
    rows: int

    def column(self, name: str, row: int) -> "Drawn | None":
        """As `Shard.column`. Raises `BrokenShard`."""
        if row >= self.rows:
            raise BrokenShard(f"A token shard that was merged had {self.rows} rows; row {row} was recorded.")
        return self.whole.column(name, self.first + row)


class Shards:
    """The shards below a folder; the last few stay open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: OrderedDict[str, Shard] = OrderedDict()

    def get(self, uri: str, sha256: str) -> Shard | Part:
        """The shard of this name, or its part of the one it was merged into. Raises `BrokenShard`."""
        if uri in self._open:
            self._open.move_to_end(uri)
            return self._open[uri]
        path = (self._folder / uri).resolve()
        if not path.is_relative_to(self._folder.resolve()):
            raise BrokenShard(f"The token shard {uri} lies outside of the folder of tokens.")
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
    """Whether any of the row's tokens is the policy's own; texts without tokens are."""
    mask = row.loss_mask
    return not len(mask) or bool(mask.values().any() if isinstance(mask, Drawn) else any(mask))
