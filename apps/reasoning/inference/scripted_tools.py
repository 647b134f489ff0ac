"""A tool that answers from a script: for tests, and for trying scaffolds without running anything. Never part of a real run.

Keeps to what the sandbox promises (tests/sandbox/test_tool_contract.py): one `Final` with an `Execution`, jobs only, abort.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping

from apps.reasoning.domain.errors import BackendRefused, DeadlineExceeded, RequestRejected
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Health
from apps.reasoning.domain.tools import Execution

Answers = Mapping[str, "str | Execution"] | Callable[[GenerationRequest], "str | Execution"]
"""By the content of the job, or as a function of the request; a text is what was printed."""


class ScriptedTools:
    """A `Backend` for tool calls. `off`, where given, is why it runs nothing; `pause_s` is how long every job takes."""

    def __init__(self, answers: Answers, *, off: str = "", pause_s: float = 0.0) -> None:
        self._answers = answers
        self._off = off
        self._pause_s = pause_s
        self._calls: dict[str, asyncio.Event] = {}

    async def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        """See `Backend.generate`. Raises `RequestRejected` for what is no job of a tool and for a job without an answer."""
        if request.job == "generate" or request.n > 1 or request.json_schema is not None or request.capture:
            raise RequestRejected("A tool runs jobs; it writes no texts.")
        content = request.messages[-1].content if request.messages else ""
        if not content.strip():
            raise RequestRejected("There is no code to run: the last message is empty.")
        if self._off:
            raise BackendRefused(self._off)
        began = time.monotonic()
        stopped = self._calls[request.call_id] = asyncio.Event()
        try:
            if await self._is_stopped(stopped, request):
                yield Final(text="", finish_reason="cancelled", model_revision="scripted")
                return
            found = self._answers(request) if callable(self._answers) else self._answers.get(content)
            if found is None:
                raise RequestRejected(f"The script has no answer for the job {request.key}.")
            execution = Execution(stdout=found) if isinstance(found, str) else found
            took = time.monotonic() - began
            yield Final(text=execution.model_dump_json(), finish_reason="stop", duration_s=took, model_revision="scripted")
        finally:
            self._calls.pop(request.call_id, None)

    async def _is_stopped(self, stopped: asyncio.Event, request: GenerationRequest) -> bool:
        try:
            await asyncio.wait_for(stopped.wait(), min(self._pause_s, request.deadline_s))
        except TimeoutError:
            if request.deadline_s < self._pause_s:
                raise DeadlineExceeded(f"The job ran longer than the deadline of {request.deadline_s:g} s.") from None
            return False
        return True

    async def abort(self, call_id: str) -> None:
        if call_id in self._calls:
            self._calls[call_id].set()

    async def health(self) -> Health:
        state = "down" if self._off else "ready"
        return Health(state=state, detail=self._off or "Answers from a script.", running=len(self._calls))

    async def close(self) -> None:
        for stopped in self._calls.values():
            stopped.set()
