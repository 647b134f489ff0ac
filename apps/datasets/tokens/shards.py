"""Token shards: Parquet files (zstd) below `DATA_DIR/tokens`, one folder per run, written atomically.

A shard contains calls of one run under one policy (for answers in segments, the oldest one), tokenizer and chat template. Its
name is a hash of its bytes, so writing it twice has no effect. The database has only the location of a call's tokens and the
file's hash.
"""

import hashlib
import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from django.conf import settings

from apps.datasets.models import TokenRow, TokenShard
from apps.reasoning.domain.generation import Capture
from apps.runs.journal.captured import Captured
from apps.runs.models import Run

FORMAT = b"1"
SCHEMA = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("sample", pa.int16(), nullable=False),
        pa.field("role", pa.string(), nullable=False),
        pa.field("finish_reason", pa.string(), nullable=False),
        pa.field("prompt_ids", pa.list_(pa.int32()), nullable=False),
        pa.field("completion_ids", pa.list_(pa.int32()), nullable=False),
        pa.field("loss_mask", pa.list_(pa.int8()), nullable=False),
        pa.field("logprobs", pa.list_(pa.float32())),
        pa.field("temperature", pa.float32(), nullable=False),
        pa.field("top_p", pa.float32(), nullable=False),
        pa.field("max_new_tokens", pa.int32()),
        pa.field("segments", pa.list_(pa.struct([("tokens", pa.int32()), ("policy", pa.string())]))),
    ]
)
#: The policy of a shard has a version where its weights or adapter have the path or revision `policy/N`.
_VERSION = re.compile(r"(?:^|[/ ])policy/(\d+)(?=$| )")
_Origin = tuple[str, str, str, str]


def policy_version_of(policy: str) -> int:
    """Version in the name of a recorded policy; 0 for the base."""
    found = _VERSION.findall(policy)
    return int(found[-1]) if found else 0


def oldest_policy(capture: Capture) -> str:
    """Oldest policy of an answer, by version. Versions decrease where the engine starts to follow another or resumed job."""
    return min((one.policy for one in capture.segments), key=policy_version_of, default=capture.policy)


def tokens_folder() -> Path:
    """Folder of all shards."""
    return Path(settings.DATA_DIR) / "tokens"


def tokens_keep(run: Run, captured: Sequence[Captured]) -> Callable[[], None]:
    """Write the shards of `captured`; the returned function inserts their rows. Raises `OSError` where the disk is full."""
    written = [_write(run, origin, found) for origin, found in _by_origin(captured)]

    def insert() -> None:
        for shard, places in written:
            shard.pk = None
            shard.save(force_insert=True)
            rows = [TokenRow(run=run, key=one.key, sample=one.sample, shard=shard, row=row) for row, one in enumerate(places)]
            TokenRow.objects.bulk_create(rows, batch_size=500)

    return insert


def _by_origin(captured: Sequence[Captured]) -> Iterator[tuple[_Origin, list[Captured]]]:
    found: dict[_Origin, list[Captured]] = {}
    for one in captured:
        capture = one.capture
        origin = (oldest_policy(capture), capture.tokenizer, capture.chat_template, capture.logprobs_of)
        found.setdefault(origin, []).append(one)
    yield from found.items()


def _write(run: Run, origin: _Origin, found: list[Captured]) -> tuple[TokenShard, list[Captured]]:
    policy, tokenizer, chat_template, logprobs_of = origin
    facts = {"run": str(run.public_id), "policy": policy, "tokenizer": tokenizer}
    facts |= {"chat_template": chat_template, "logprobs_of": logprobs_of}
    schema = SCHEMA.with_metadata({b"format": FORMAT, **{name.encode(): value.encode() for name, value in facts.items()}})
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([_values(one) for one in found], schema=schema), buffer, compression="zstd")
    data = buffer.getvalue()
    sha256 = hashlib.sha256(data).hexdigest()
    uri = f"{run.public_id}/{sha256[:24]}.parquet"
    file_put(tokens_folder() / uri, data)
    shard = TokenShard(
        run=run,
        uri=uri,
        sha256=sha256,
        rows=len(found),
        size=len(data),
        tokenizer=tokenizer,
        chat_template=chat_template,
        policy=policy[:200],
        logprobs_of=logprobs_of,
    )
    return shard, found


def _values(one: Captured) -> dict[str, Any]:
    capture = one.capture
    return {
        "key": one.key,
        "sample": one.sample,
        "role": one.role,
        "finish_reason": one.finish_reason,
        "prompt_ids": capture.prompt_ids,
        "completion_ids": capture.completion_ids,
        "loss_mask": capture.mask or (1,) * len(capture.completion_ids),
        "logprobs": capture.logprobs or None,
        "temperature": capture.temperature,
        "top_p": capture.top_p,
        "max_new_tokens": capture.max_new_tokens,
        "segments": [one.model_dump() for one in capture.segments] or None,
    }


def file_put(path: Path, data: bytes) -> None:
    """Write a file atomically and durably."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
