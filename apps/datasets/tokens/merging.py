"""Merge the small token shards of an ended run into a few large ones: a slow run writes a file per call.

The order of the writes makes a crash harmless: the new file, `merged.json` with the new places of the old files' rows, the
database, the removal of the old files. Feeds and dataset builds with an old name find its rows through `merged.json`.
"""

import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from django.conf import settings
from django.db import transaction
from django.db.models import F

from apps.datasets.models import TokenRow, TokenShard
from apps.datasets.tokens.shards import file_put, tokens_folder
from apps.processes.file_locks import deletion_lock, file_lock
from apps.runs.models import Run

MERGED = "merged.json"
#: Shards below SMALL bytes are merged into files of at most LARGE bytes (the sum of the small ones).
SMALL, LARGE = 8 * 2**20, 64 * 2**20


class ShardBroken(Exception):
    """A shard is missing or changed; the message names it. Its group was not merged."""


def shards_merge(run: Run) -> tuple[int, int]:
    """Merge the small shards of a run; return how many there were before and after.

    Raises `ShardBroken`, `OSError`; ValueError for a live run; `LockHeld` during a backup, which copies the old files.
    """
    if run.is_live:
        raise ValueError(f"{run} has not ended.")
    before = after = 0
    with file_lock(deletion_lock(Path(settings.DATA_DIR))):
        for some in _batches(list(TokenShard.objects.filter(run=run, size__lt=SMALL).order_by("pk"))):
            _merge(run, some)
            before, after = before + len(some), after + 1
        _sweep(run)
    return before, after


def _batches(shards: Sequence[TokenShard]) -> Iterator[list[TokenShard]]:
    """Batches of two or more shards of one origin, up to the size of a large shard."""
    by_origin: dict[tuple[str, ...], list[list[TokenShard]]] = {}
    for one in shards:
        found = by_origin.setdefault((one.policy, one.tokenizer, one.chat_template, one.logprobs_of), [[]])
        if sum(other.size for other in found[-1]) + one.size > LARGE:
            found.append([])
        found[-1].append(one)
    yield from (some for found in by_origin.values() for some in found if len(some) > 1)


def _merge(run: Run, some: Sequence[TokenShard]) -> None:
    tables = [_read(one) for one in some]
    buffer = io.BytesIO()
    pq.write_table(pa.concat_tables(tables, promote_options="default"), buffer, compression="zstd")
    data = buffer.getvalue()
    sha256 = hashlib.sha256(data).hexdigest()
    name = f"{sha256[:24]}.parquet"
    file_put(tokens_folder() / str(run.public_id) / name, data)
    places: dict[str, dict[str, Any]] = {}
    first = 0
    for one in some:
        places[one.uri] = {"shard": f"{run.public_id}/{name}", "sha256": sha256, "first": first, "rows": one.rows}
        first += one.rows
    _index(run, places)
    with transaction.atomic():
        origin = {key: getattr(some[0], key) for key in ("policy", "tokenizer", "chat_template", "logprobs_of")}
        whole = TokenShard.objects.create(
            run=run, uri=f"{run.public_id}/{name}", sha256=sha256, rows=first, size=len(data), **origin
        )
        for one in some:
            TokenRow.objects.filter(shard=one).update(shard=whole, row=F("row") + places[one.uri]["first"])
            one.delete()


def _read(shard: TokenShard) -> Any:
    """Read a shard's table. Raises `ShardBroken`."""
    try:
        data = (tokens_folder() / shard.uri).read_bytes()
    except FileNotFoundError:
        raise ShardBroken(f"The token shard {shard.uri} is missing.") from None
    if hashlib.sha256(data).hexdigest() != shard.sha256:
        raise ShardBroken(f"The token shard {shard.uri} is truncated or was changed.")
    return pq.read_table(pa.BufferReader(data))


def _index(run: Run, places: dict[str, dict[str, Any]]) -> None:
    file_put(tokens_folder() / str(run.public_id) / MERGED, json.dumps(_merged(run) | places, indent=1).encode())


def _merged(run: Run) -> dict[str, Any]:
    path = tokens_folder() / str(run.public_id) / MERGED
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def _sweep(run: Run) -> None:
    """Delete the old files, including those left by an interrupted merge."""
    kept = set(TokenShard.objects.filter(run=run).values_list("uri", flat=True))
    for uri in _merged(run).keys() - kept:
        (tokens_folder() / uri).unlink(missing_ok=True)
