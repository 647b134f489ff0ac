"""Files of rows, written in batches as row groups with constant memory; every row is checked."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from apps.recipes.mathematics.rows import COLUMNS, Row, arrow_schema, check_row
from apps.recipes.rows.tokens import StoredList

BATCH = 1024
ROWS_A_FILE = 20_000
_TOKENS = ("prompt_ids", "completion_ids", "loss_mask", "logprobs")


class RowWriter:
    """Writes `00000.parquet` and so on to `folder`; `needs` are those of `check_row`, `metadata` is for Arrow."""

    def __init__(
        self,
        folder: Path,
        metadata: Mapping[bytes, bytes] | None = None,
        /,
        *,
        rows_a_file: int = ROWS_A_FILE,
        **needs: bool,
    ) -> None:
        self._folder = folder
        self._most = rows_a_file
        self._needs = needs
        self._schema = arrow_schema().with_metadata(metadata)
        self._batch: list[Row] = []
        self._file: Any = None
        self._in_file = 0
        self._files = 0
        self.count = 0
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, row: Row) -> None:
        """Add a row. Raises `NotLearnable` and `Leak`, naming file and row."""
        self._batch.append(row)
        if len(self._batch) >= min(BATCH, self._most - self._in_file):
            self._flush()

    def end(self) -> None:
        """Write the remaining rows and close the file."""
        self._flush()
        self.close()

    def _flush(self) -> None:
        if not self._batch:
            return
        if self._file is None:
            path = self._folder / f"{self._files:05}.parquet"
            self._file = pq.ParquetWriter(path, self._schema, compression="zstd")
        columns = [_column(name, self._batch, self._schema.field(name).type) for name, _ in COLUMNS]
        table = pa.Table.from_arrays(columns, schema=self._schema)
        self._check(table)
        self._file.write_table(table)
        self._in_file += len(self._batch)
        self.count += len(self._batch)
        self._batch = []
        if self._in_file >= self._most:
            self.close()

    def close(self) -> None:
        """Close the current file."""
        if self._file is not None:
            self._file.close()
            self._file, self._in_file = None, 0
            self._files += 1

    def _check(self, table: Any) -> None:
        """Apply `check_row` to every row; numbers are checked together first, individually only after a failure."""
        numbers_good = _numbers_good(table)
        for place, row in enumerate(self._batch):
            where = f"rows/{self._files:05}.parquet, row {self._in_file + place} (trajectory {row.trajectory_id})"
            if numbers_good and row.token_advantages is None:
                row = _with_few_numbers(row)
            check_row(row, where, **self._needs)


def put(path: Path, text: str) -> None:
    """Write a file atomically."""
    temporary = path.with_name(f".{path.name}.partial")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def files_of(folder: Path) -> dict[str, str]:
    """SHA-256 of every file below `folder`, by path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                found[path.relative_to(folder).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _column(name: str, rows: Sequence[Row], kind: Any) -> Any:
    values = [getattr(row, name) for row in rows]
    if name in _TOKENS:
        lists = [one.as_list() if isinstance(one, StoredList) else pa.array([_plain(one)], kind) for one in values]
        return pa.concat_arrays(lists).cast(kind)
    if pa.types.is_list(kind):
        return pa.array([_plain(one) for one in values], kind)
    return pa.array(values, kind)


def _plain(values: Any) -> Any:
    return None if values is None else list(values)


def _numbers_good(table: Any) -> bool:
    """Whether masks are 0 or 1 and as long as the completions, and unmasked log-probabilities are finite."""
    completions, masks, logprobs = (table.column(name).combine_chunks() for name in _TOKENS[1:])
    lengths = np.diff(completions.offsets.to_numpy())
    mask = masks.flatten().to_numpy()
    if not np.array_equal(lengths, np.diff(masks.offsets.to_numpy())) or not np.isin(mask, (0, 1)).all():
        return False
    has = logprobs.is_valid().to_numpy(zero_copy_only=False)
    if not np.array_equal(lengths[has], np.diff(logprobs.offsets.to_numpy())[has]):
        return False
    own = mask[np.repeat(has, lengths)] > 0
    return bool(np.isfinite(logprobs.flatten().to_numpy()[own]).all())


def _with_few_numbers(row: Row) -> Row:
    """Row with its tokens shortened to one, because lengths, masks and log-probabilities are already checked."""
    kept = min(len(row.completion_ids), 1)
    logprobs = None if row.logprobs is None else (0.0,) * kept
    return replace(
        row,
        prompt_ids=(0,) * min(len(row.prompt_ids), 1),
        completion_ids=(0,) * kept,
        loss_mask=(1,) * kept,
        logprobs=logprobs,
    )
