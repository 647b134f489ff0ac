"""Count of the rows in a job's stream that its trainer has not used yet, read from the shards.

`state.json` names the shard that the trainer is reading, and the number of rows it holds for an incomplete step. The rest of
that shard is not counted: it is less than a group.
"""

from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from apps.learning.jobs.folders import TrainerState


def rows_unread(folder: Path, state: TrainerState | None) -> int:
    """Number of rows that wait for a step; without a trainer's state, all rows."""
    reading, held = (state.reading, state.held) if state is not None else ("", 0)
    return held + sum(_rows(str(path)) for path in sorted((folder / "rows").glob("*.parquet")) if path.name > reading)


@lru_cache(maxsize=4096)
def _rows(path: str) -> int:
    """Rows of a shard, cached because shards never change; 0 for an unreadable one, which the trainer reports."""
    try:
        return int(pq.read_metadata(path).num_rows)
    except (pa.ArrowException, OSError):
        return 0
