"""Rows of a job's stream that its trainer has not used yet: counted from the shards, because only they know of every row.

The trainer says in `state.json` which shard it reads, and how many rows it holds for the step that it cannot fill yet. What is
left of the shard that it reads is not counted: less than a group.
"""

from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from apps.learning.folders import Said


def rows_unread(folder: Path, told: Said | None) -> int:
    """Those that wait for a step; before the trainer has said anything, all."""
    reading, held = (told.reading, told.held) if told is not None else ("", 0)
    return held + sum(_rows(str(path)) for path in sorted((folder / "rows").glob("*.parquet")) if path.name > reading)


@lru_cache(maxsize=4096)
def _rows(path: str) -> int:
    """A shard is never changed. One that cannot be read is the trainer's to name."""
    try:
        return int(pq.read_metadata(path).num_rows)
    except (pa.ArrowException, OSError):
        return 0
