"""Between the core's `StepRecord` and the stored `Step` row."""

import functools
import json
from collections import namedtuple
from collections.abc import Iterable
from datetime import datetime
from typing import Any, cast

import zstandard

from apps.reasoning.domain.generation import Final, FinishReason, Place, Usage
from apps.reasoning.domain.records import RecordKind, StepRecord
from apps.reasoning.domain.values import unchecked
from apps.reasoning.journal.keys import sha_of
from apps.runs.journal.rows import plain
from apps.runs.journal.texts import texts_of_steps
from apps.runs.models import Run, Step

_READ = tuple(field.name for field in Step._meta.concrete_fields if field.name not in ("id", "run", "recorded_at"))

_Row = namedtuple("_Row", _READ)  # type: ignore[misc]  # The columns are the model's.


def values_of(record: StepRecord, run_pk: int, at: datetime) -> dict[str, Any]:
    """The columns of a record's row; its texts are stored separately, under their names."""
    final, place = record.final, record.place
    usage = record.usage
    return {
        "run_id": run_pk,
        "key": record.key,
        "kind": record.kind,
        "request_hash": record.request_hash,
        "role": record.role,
        "alias": record.alias,
        "rollout": place.rollout,
        "round": place.round,
        "subject": place.subject,
        "index": place.index,
        "attempt": record.attempt,
        "prompt_shas": list(record.prompt_shas),
        "text_sha": sha_of(final.text) if final else "",
        "reasoning_sha": sha_of(final.reasoning) if final else "",
        "finish_reason": final.finish_reason if final else "",
        "failure": record.failure,
        "value": record.value,
        "prompt_tokens": usage.prompt,
        "cached_tokens": usage.cached,
        "completion_tokens": usage.completion,
        "reasoning_tokens": usage.reasoning,
        "ttft_s": final.ttft_s if final else None,
        "duration_s": final.duration_s if final else 0.0,
        "model_revision": final.model_revision if final else "",
        "worker": final.worker[:120] if final else "",
        "recorded_at": at,
    }


class LoadedRecords:
    """The records of a run for a replay: small fields are loaded at once, texts are decompressed on access.

    Compressed texts stay in memory until they are read, because the replay runs on an event loop, where database reads are
    not allowed, and 80,000 uncompressed texts do not fit.
    """

    def __init__(self, run: Run) -> None:
        # Named tuples: 80,000 model instances take twice as long to make.
        rows: Iterable[Any] = map(_Row._make, plain(Step, run.pk, _READ))
        self._rows = {row.key: row for row in rows}
        self._texts = texts_of_steps(run.pk)
        self._unzip = zstandard.ZstdDecompressor()
        self.loaded = len(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def take(self, key: str) -> StepRecord | None:
        """Remove and return the record under `key`: a replay reads each key once, and this frees its memory."""
        row = self._rows.pop(key, None)
        return None if row is None else self._record(row)

    def _text(self, sha: str) -> str:
        if not sha:
            return ""
        size, data = self._texts[sha]
        return self._unzip.decompress(data, max_output_size=size).decode()

    def _record(self, row: Any) -> StepRecord:
        final = None
        if row.finish_reason:
            final = unchecked(
                Final,
                text=self._text(row.text_sha),
                reasoning=self._text(row.reasoning_sha),
                finish_reason=cast("FinishReason", row.finish_reason),
                usage=unchecked(
                    Usage,
                    prompt=row.prompt_tokens,
                    cached=row.cached_tokens,
                    completion=row.completion_tokens,
                    reasoning=row.reasoning_tokens,
                ),
                ttft_s=row.ttft_s,
                duration_s=row.duration_s,
                model_revision=row.model_revision,
                worker=row.worker,
            )
        return unchecked(
            StepRecord,
            key=row.key,
            kind=cast("RecordKind", row.kind),
            request_hash=row.request_hash,
            role=row.role,
            alias=row.alias,
            place=unchecked(Place, rollout=row.rollout, round=row.round, subject=row.subject, index=row.index),
            attempt=row.attempt,
            prompt_shas=_names(row.prompt_shas),
            final=final,
            failure=row.failure,
            value=None if row.value is None else json.loads(row.value),
        )


# The votes on a lemma have one prompt.
@functools.lru_cache(maxsize=64)
def _names(written: str) -> tuple[str, ...]:
    return tuple(json.loads(written))
