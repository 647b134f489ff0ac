"""Parts, records and events of model calls, for `RunContext.generate`. Pure."""

from collections.abc import Sequence

from apps.reasoning.domain.errors import CallFailed
from apps.reasoning.domain.events import CallBegan, CallEnded, Event
from apps.reasoning.domain.events import CallFailed as CallFailedEvent
from apps.reasoning.domain.generation import Final, GenerationRequest, Place
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.journal.keys import sha_of


def call_record(
    request: GenerationRequest, asked: str, place: Place, result: Final | str, attempt: int, texts: Sequence[str]
) -> StepRecord:
    """The record of a call: its final, or the reason of its failure."""
    return StepRecord(
        key=request.key,
        request_hash=asked,
        role=request.role,
        alias=request.alias,
        place=place,
        attempt=attempt,
        prompt_shas=tuple(sha_of(text) for text in texts),
        final=result if isinstance(result, Final) else None,
        failure="" if isinstance(result, Final) else result,
    )


def parts_of(request: GenerationRequest, parts: Sequence[str] | None) -> tuple[str, ...]:
    """The pieces in which a prompt is stored; by default its messages. Raises `ValueError` if they do not form its text."""
    contents = tuple(message.content for message in request.messages)
    if parts is None:
        return contents
    if "".join(parts) != "".join(contents):
        raise ValueError(f"{request.key}: the parts of the prompt do not add up to its text")
    return tuple(part for part in parts if part)


def call_began(key: str, role: str, alias: str, place: Place) -> CallBegan:
    """The event that opens a call."""
    return CallBegan(
        call=key,
        role=role,
        alias=alias,
        rollout=place.rollout,
        round=place.round,
        subject=place.subject,
        index=place.index,
    )


def call_ending(record: StepRecord) -> list[tuple[str, Event]]:
    """The event that closes a call, stored in the transaction of its record."""
    if record.final is None:
        return [(f"{record.key}/failed", CallFailedEvent(call=record.key, reason=record.failure, attempt=record.attempt))]
    final = record.final
    ended = CallEnded(
        call=record.key,
        attempt=record.attempt,
        finish_reason=final.finish_reason,
        usage=final.usage,
        ttft_s=final.ttft_s,
        duration_s=final.duration_s,
        text_sha=sha_of(final.text),
        reasoning_sha=sha_of(final.reasoning),
    )
    return [(f"{record.key}/ended", ended)]


def final_of(record: StepRecord) -> Final:
    """The answer of a record, without captured tokens, which a replay does not have.

    Raises `CallFailed` if the call failed.
    """
    final = record.final
    if final is None:
        raise CallFailed(record.key, record.failure)
    if final.capture is None:
        return final
    return final.model_copy(
        update={"capture": None, "more": tuple(one.model_copy(update={"capture": None}) for one in final.more)}
    )
