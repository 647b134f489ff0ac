"""The sandbox as a `Backend`: the last message is a job, the answer one JSON object of its `Execution`.

So code is handled like every call: journal, queue, its own worker, cancel, deadline. Usage is zero, as there are no tokens.
`python` runs a model's code. `check_math` runs the computational verifier behind the same fence. `search` runs no code and
searches the documentation of the libraries that are installed there.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from apps.reasoning.domain.errors import BackendRefused, DeadlineExceeded, EngineLost, RequestRejected
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Health
from apps.reasoning.domain.tools import SearchJob
from workers.library.index import NoIndex, search
from workers.sandbox import mathjob
from workers.sandbox.execution import Execution
from workers.sandbox.probe import Probe
from workers.sandbox.process import NotStarted
from workers.sandbox.sandbox import Sandbox, SandboxOff, SandboxOptions

#: The longest code of a tool call, in characters.
LONGEST_CODE = 1_000_000
#: The longest wait of a health check; trying the fences takes seconds.
_ANSWER_WITHIN_S = 1.0


class SandboxBackend:
    """A `Backend` that executes code. Every request makes at most one attempt; failing code also gives a result.

    Checks have their own warm processes, with the verifier imported.
    """

    def __init__(self, options: SandboxOptions | None = None) -> None:
        self._sandbox = Sandbox(options)
        options = self._sandbox.options
        limits = options.limits.model_copy(
            update={"wall_s": max(options.limits.wall_s, mathjob.WALL_S), "cpu_s": max(options.limits.cpu_s, mathjob.CPU_S)}
        )
        of_checks = {
            "exercise": mathjob.exercise(),
            "libraries": ("sympy",) if options.libraries else (),
            "limits": limits,
        }
        self._checks = Sandbox(options.model_copy(update=of_checks))
        self._calls: dict[str, asyncio.Task[Execution]] = {}
        self._aborted: set[asyncio.Task[Execution]] = set()
        self._probing: asyncio.Task[Probe] | None = None

    async def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        """See `Backend.generate`: yields one `Final`, whose `text` is the JSON of an `Execution`, empty if it was aborted.

        Raises `RequestRejected` for a request that only a model can answer and for a malformed job; `DeadlineExceeded` when the
        request's deadline ends before the sandbox's own limit (reaching that limit is a result); `BackendRefused` if no fence
        holds; `EngineLost` if no process can be started now.
        """
        _reject_what_only_models_do(request)
        began = time.monotonic()
        task = asyncio.create_task(self._work(request))
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

    def _work(self, request: GenerationRequest) -> Coroutine[Any, Any, Execution]:
        content = _content(request)
        if request.job == "search":
            return asyncio.to_thread(_searched, self._sandbox.options.environment, content)
        if request.job == "check_math":
            return self._checks.run(mathjob.code_of(content))
        return self._sandbox.run(content)

    async def _final(self, task: asyncio.Task[Execution], began: float) -> Final:
        duration_s = time.monotonic() - began
        if task in self._aborted:
            return Final(text="", finish_reason="cancelled", duration_s=duration_s, model_revision=await self._revision())
        try:
            execution = task.result()
        except asyncio.CancelledError:
            raise EngineLost("The sandbox was closed while the code ran.") from None
        except (SandboxOff, NoIndex) as error:
            raise BackendRefused(str(error)) from error
        except (NotStarted, OSError) as error:
            raise EngineLost(f"The sandbox could not start a process ({error}).") from error
        revision = await self._revision()
        return Final(text=execution.model_dump_json(), finish_reason="stop", duration_s=duration_s, model_revision=revision)

    async def _revision(self) -> str:
        """The dependencies of a result: interpreter, packages, fence."""
        found = await self._sandbox.probe()
        return f"{found.environment} ({found.level})"[:120]

    async def abort(self, call_id: str) -> None:
        """End the code of a call and everything it started. Unknown ids are ignored."""
        task = self._calls.get(call_id)
        if task is not None and not task.done():
            self._aborted.add(task)
            task.cancel()

    async def health(self) -> Health:
        """Ready with the fence and the packages; down with the reason and a fix; loading while fences are tried."""
        if self._probing is None or self._probing.done():
            self._probing = asyncio.create_task(self._sandbox.probe())
        await asyncio.wait([self._probing], timeout=_ANSWER_WITHIN_S)
        both = (self._sandbox, self._checks)
        running, waiting = sum(one.running for one in both), sum(one.queued for one in both)
        if not self._probing.done():
            return Health(
                state="loading", detail="Testing which fence holds on this machine.", running=running, waiting=waiting
            )
        found = self._probing.result()
        state = "down" if found.level == "off" else "ready"
        return Health(state=state, detail=str(found), running=running, waiting=waiting)

    async def close(self) -> None:
        for task in list(self._calls.values()):
            task.cancel()
        if self._probing is not None:
            await asyncio.wait([self._probing])
        await asyncio.gather(self._sandbox.close(), self._checks.close())


def _reject_what_only_models_do(request: GenerationRequest) -> None:
    unfit = [
        name
        for name, asked in (
            ("a text", request.job == "generate"),
            ("several completions (n)", request.n > 1),
            ("a JSON schema", request.json_schema is not None),
            ("stop strings", bool(request.sampling.stop)),
            ("a prompt as tokens", bool(request.prompt_ids)),
            ("sampled tokens (capture)", request.capture),
        )
        if asked
    ]
    if unfit:
        raise RequestRejected(f"The sandbox runs jobs only. It does not support {', '.join(unfit)}.")


def _searched(environment: Path, content: str) -> Execution:
    try:
        job = SearchJob.model_validate_json(content)
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"]
        raise RequestRejected(f"The search job is malformed ({reason}); see docs/tools.md for its shape.") from None
    began = time.monotonic()
    hits = [hit.model_dump() for hit in search(environment, job)]
    return Execution(stdout=json.dumps({"hits": hits}), duration_s=time.monotonic() - began)


def _content(request: GenerationRequest) -> str:
    code = request.messages[-1].content if request.messages else ""
    if not code.strip():
        raise RequestRejected("There is no code to run: the last message is empty.")
    if len(code) > LONGEST_CODE:
        raise RequestRejected(f"The code has {len(code):,} characters; the sandbox accepts at most {LONGEST_CODE:,}.")
    return code


async def _ended(task: asyncio.Task[Execution]) -> None:
    """Stop the code and wait until its process is gone, even while our own reader is being cancelled."""
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        task.exception()
