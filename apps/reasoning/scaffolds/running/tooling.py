"""Requests, records, events and answers of tool calls, for `RunContext.tool`.

Source of the loop that uses them: AlphaApollo §2.1. A tool never halts a run: a failure is an answer too.
"""

from apps.reasoning.domain.errors import BackendError, BackendRefused, BackendUnavailable
from apps.reasoning.domain.events import Event
from apps.reasoning.domain.generation import Final, GenerationRequest, Message, Place
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.domain.tool_events import ToolBegan, ToolEnded, ToolFailed
from apps.reasoning.domain.tools import SANDBOX, ToolAnswer, ToolJob, read_execution
from apps.reasoning.journal.keys import request_hash, sha_of

#: The alias whose workers run each job.
ALIAS_OF: dict[ToolJob, str] = {"python": SANDBOX, "check_math": SANDBOX, "search": SANDBOX}
#: Time limit from dispatch to answer; the sandbox's own limit on the code is shorter.
TOOL_DEADLINE_S = 120.0
#: The same for formula checks: generous, because their own limits count operations and a busy machine needs longer.
CHECK_DEADLINE_S = 300.0
UNREADABLE = "The tool's answer could not be read."


def tool_request(run: str, key: str, job: ToolJob, content: str, priority: int) -> GenerationRequest:
    """The request of a tool call."""
    return GenerationRequest(
        run=run,
        key=key,
        role=job,
        alias=ALIAS_OF[job],
        messages=(Message(role="user", content=content),),
        deadline_s=CHECK_DEADLINE_S if job == "check_math" else TOOL_DEADLINE_S,
        priority=priority,
        job=job,
    )


def hash_of_tool(request: GenerationRequest) -> str:
    """A hash that is equal exactly if a recorded answer may be reused."""
    return request_hash(
        role=request.job,
        alias=request.alias,
        revision="",
        messages=request.messages,
        sampling=request.sampling,
        json_schema=None,
        seed=0,
    )


def tool_record(request: GenerationRequest, asked: str, place: Place, result: Final | BackendError, attempt: int) -> StepRecord:
    """The record of a tool call. `value` marks the tool as off if no worker can run it."""
    final = result if isinstance(result, Final) else None
    readable = final is None or read_execution(final.text) is not None
    is_off = isinstance(result, BackendRefused | BackendUnavailable)
    failure = str(result) if isinstance(result, BackendError) else "" if readable else UNREADABLE
    return StepRecord(
        key=request.key,
        kind="tool",
        request_hash=asked,
        role=request.job,
        alias=request.alias,
        place=place,
        attempt=attempt,
        prompt_shas=(sha_of(request.messages[0].content),),
        final=final,
        failure=failure,
        value={"off": True} if is_off else None,
    )


def tool_answer(record: StepRecord, job: ToolJob) -> ToolAnswer:
    """The answer of a record."""
    execution = read_execution(record.final.text) if record.final else None
    return ToolAnswer(job=job, execution=execution, failure=record.failure, is_off=bool((record.value or {}).get("off")))


def tool_began(request: GenerationRequest, job: ToolJob, place: Place) -> tuple[str, Event]:
    began = ToolBegan(
        call=request.key,
        job=job,
        alias=request.alias,
        rollout=place.rollout,
        round=place.round,
        subject=place.subject,
        index=place.index,
    )
    return f"{request.key}/began", began


def tool_ending(record: StepRecord, job: ToolJob) -> list[tuple[str, Event]]:
    """The event that closes a tool call, stored in the transaction of its record."""
    answer = tool_answer(record, job)
    if answer.execution is None or record.final is None:
        failed = ToolFailed(call=record.key, job=job, reason=answer.failure, is_off=answer.is_off)
        return [(f"{record.key}/failed", failed)]
    ended = ToolEnded(
        call=record.key,
        job=job,
        attempt=record.attempt,
        error=answer.execution.error,
        truncated=answer.execution.truncated,
        duration_s=answer.execution.duration_s,
        text_sha=sha_of(record.final.text),
    )
    return [(f"{record.key}/ended", ended)]
