"""The sandbox behind the port of a model: the last message is Python code, the answer one JSON object of its `Execution`.

So code goes the way of every call: journal, queue, worker of its own, cancel, deadline. Usage is zero: there are no tokens.
"""

import asyncio
import time
from collections.abc import AsyncIterator

from apps.reasoning.domain.errors import BackendRefused, DeadlineExceeded, EngineLost, RequestRejected
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Health
from workers.sandbox.execution import Execution
from workers.sandbox.process import NotStarted
from workers.sandbox.sandbox import Sandbox, SandboxOff, SandboxOptions

#: Longer code is no tool call.
LONGEST_CODE = 1_000_000


class SandboxBackend:
    """A `Backend` that executes. Every request makes at most one attempt; the result of code that fails is a result."""

    def __init__(self, options: SandboxOptions | None = None) -> None:
        self._sandbox = Sandbox(options)
        self._calls: dict[str, asyncio.Task[Execution]] = {}
        self._aborted: set[asyncio.Task[Execution]] = set()

    async def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        """See `Backend.generate`: yields one `Final`, whose `text` is the JSON of an `Execution`, empty where it was aborted.

        Raises `RequestRejected` for what only a model could do, `DeadlineExceeded` where the request's deadline comes before
        the sandbox's own limit (that one is a result), `BackendRefused` where no fence holds, `EngineLost` where no process
        can be started just now.
        """
        code = _code(request)
        began = time.monotonic()
        task = asyncio.create_task(self._sandbox.run(code))
        self._calls[request.call_id] = task
        try:
            done, _ = await asyncio.wait([task], timeout=request.deadline_s)
            if not done:
                raise DeadlineExceeded(f"The code ran longer than the deadline of {request.deadline_s:g} s and was stopped.")
            yield await self._final(task, began)
        finally:
            if self._calls.get(request.call_id) is task:
                del self._calls[request.call_id]
            await _ended(task)
            self._aborted.discard(task)

    async def _final(self, task: asyncio.Task[Execution], began: float) -> Final:
        duration_s = time.monotonic() - began
        if task in self._aborted:
            return Final(text="", finish_reason="cancelled", duration_s=duration_s, model_revision=await self._revision())
        try:
            execution = task.result()
        except asyncio.CancelledError:
            raise EngineLost("The sandbox was closed while the code ran.") from None
        except SandboxOff as error:
            raise BackendRefused(str(error)) from error
        except (NotStarted, OSError) as error:
            raise EngineLost(f"The sandbox could not start a process ({error}).") from error
        revision = await self._revision()
        return Final(text=execution.model_dump_json(), finish_reason="stop", duration_s=duration_s, model_revision=revision)

    async def _revision(self) -> str:
        """What the result depends on: interpreter, packages, fence."""
        found = await self._sandbox.probe()
        return f"{found.environment} ({found.level})"

    async def abort(self, call_id: str) -> None:
        """End the code of a call with everything it started. Unknown ids are ignored."""
        task = self._calls.get(call_id)
        if task is not None and not task.done():
            self._aborted.add(task)
            task.cancel()

    async def health(self) -> Health:
        """Ready with the fence and the packages, or down with the reason and how to mend it."""
        found = await self._sandbox.probe()
        sandbox = self._sandbox
        state = "down" if found.level == "off" else "ready"
        return Health(state=state, detail=str(found), running=sandbox.running, waiting=sandbox.queued)

    async def close(self) -> None:
        for task in list(self._calls.values()):
            task.cancel()
        await self._sandbox.close()


def _code(request: GenerationRequest) -> str:
    """The code of a request. Raises `RequestRejected` where more is asked than running it."""
    unfit = [
        name
        for name, asked in (
            ("several completions (n)", request.n > 1),
            ("a JSON schema", request.json_schema is not None),
            ("stop strings", bool(request.sampling.stop)),
            ("a prompt as tokens", bool(request.prompt_ids)),
            ("tokens as drawn (capture)", request.capture),
        )
        if asked
    ]
    if unfit:
        raise RequestRejected(f"The sandbox runs code and cannot give {', '.join(unfit)}.")
    code = request.messages[-1].content if request.messages else ""
    if not code.strip():
        raise RequestRejected("There is no code to run: the last message is empty.")
    if len(code) > LONGEST_CODE:
        raise RequestRejected(f"The code has {len(code):,} characters; the sandbox takes {LONGEST_CODE:,}.")
    return code


async def _ended(task: asyncio.Task[Execution]) -> None:
    """Stop the code and wait until its process is gone, also when our own reader is being cancelled."""
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        task.exception()
