"""Metrics of a worker for every ended call: outcome, tokens, times."""

from concurrent.futures import Future

from apps.processes.metrics import count, observe
from apps.reasoning.domain.errors import BackendError
from apps.reasoning.domain.generation import Final, GenerationRequest
from apps.reasoning.domain.tools import read_execution


def count_end(request: GenerationRequest, generated: "Future[Final]") -> None:
    """Count an ended call. A `BackendError` counts under its class name, any other error as `internal`."""
    alias = request.alias
    error = generated.exception()
    if error is not None:
        name = type(error).__name__ if isinstance(error, BackendError) else "internal"
        count("calls_ended", alias, name)
        if request.job != "generate":
            count("tool_calls", request.job, name)
        return
    final = generated.result()
    if request.job != "generate" and final.finish_reason != "cancelled":
        execution = read_execution(final.text)
        count("tool_calls", request.job, (execution.error or "ok") if execution else "unreadable")
    count("calls_ended", alias, final.finish_reason)
    count("prompt_tokens", alias, by=final.usage.prompt)
    count("cached_prompt_tokens", alias, by=final.usage.cached)
    count("completion_tokens", alias, by=final.usage.completion)
    if final.ttft_s is not None:
        observe("time_to_first_token_seconds", final.ttft_s, alias)
    observe("call_seconds", final.duration_s, alias)
