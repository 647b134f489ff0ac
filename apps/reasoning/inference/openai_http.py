"""Model servers that speak OpenAI's chat completions: vLLM, SGLang, Ollama, llama-server and hosted services.

A call is retried here, with increasing waits, only if no part of an answer was received: refused connections and busy servers.
All other errors are raised unchanged, and the orchestrator decides.
"""

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx

from apps.reasoning.domain.errors import BackendError, BackendUnavailable, DeadlineExceeded, EngineLost, RequestRejected
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Health
from apps.reasoning.inference import http_errors
from apps.reasoning.inference.abilities import reject_what_is_missing, structural_tag
from apps.reasoning.inference.aliases import Alias, HttpOptions
from apps.reasoning.inference.http_answer import Answer
from apps.reasoning.inference.http_health import HealthProbe
from apps.reasoning.inference.meter import RateMeter
from apps.reasoning.inference.sse import event_data

log = logging.getLogger(__name__)

_CONNECT_RETRIES = 2
_LONGEST_WAIT_S = 120.0
_SPARE_CONNECTIONS = 4  # For questions after the server's health, and for connections that are still being closed.
_POOL_TIMEOUT_S = 10.0
_CLOSING_S = 5.0
_WITHOUT_S = 600.0  # Then try functions again: the server may have been restarted with its parser.


NO_FUNCTIONS = "It refuses functions, so its model writes tool calls as text (docs/models.md, tools)."


class _Call:
    """A call under way: what its pump has put on `items`, and what is known of the answer.

    Its pump is stopped through `scope` alone. httpx hands a connection back in several steps and shields them against the
    scopes of anyio, not against `Task.cancel()`: one of those at such a moment and the connection is taken for good.
    """

    def __init__(self, request: GenerationRequest, alias: Alias) -> None:
        self.request = request
        self.answer = Answer(request, alias)
        self.items: asyncio.Queue[Delta | Final | BackendError] = asyncio.Queue()
        self.scope = anyio.CancelScope()
        self.is_sent = False
        self.has_ended = False

    def end(self, last: Final | BackendError) -> None:
        """Put the last item, once: what ends the call after that changes nothing."""
        if not self.has_ended:
            self.has_ended = True
            self.items.put_nowait(last)


class OpenAIHttpBackend:
    """A `Backend` over one server address. `api_key` is the key itself; it is sent to `alias.base_url` only."""

    def __init__(self, alias: Alias, *, api_key: str = "", wait_scale: float = 1.0) -> None:
        if not isinstance(alias.options, HttpOptions):
            raise TypeError(f"{alias.name} is not an alias of the backend openai_http")
        self._alias = alias
        self._options = alias.options
        self._wait_scale = wait_scale
        self._calls: dict[str, _Call] = {}
        self._pumps: set[asyncio.Task[None]] = set()
        self._places = asyncio.Semaphore(alias.concurrency)
        self._meter = RateMeter()
        self._without_until = {"tools": 0.0, "response_format": 0.0}
        most = alias.concurrency + _SPARE_CONNECTIONS
        self._client = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=httpx.Timeout(
                30.0,
                connect=alias.options.connect_timeout_s,
                read=alias.options.silence_timeout_s,
                pool=_POOL_TIMEOUT_S,  # Calls wait for `_places`: who waits here found a connection that was never handed back.
            ),
            limits=httpx.Limits(max_connections=most, max_keepalive_connections=most),
        )
        self._probe = HealthProbe(alias, self._client)

    async def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        """See `Backend.generate`."""
        reject_what_is_missing(request, "openai_http", tools=True, vision=self._alias.vision)
        call = self._calls[request.call_id] = _Call(request, self._alias)
        pump = asyncio.create_task(self._pump(call))
        self._pumps.add(pump)
        pump.add_done_callback(self._pumps.discard)
        try:
            while True:
                item = await _next(call)
                if isinstance(item, BackendError):
                    raise item
                yield item
                if isinstance(item, Final):
                    return
        finally:
            if self._calls.get(request.call_id) is call:
                del self._calls[request.call_id]
            if not call.has_ended:
                call.scope.cancel()
            _, closing = await asyncio.wait([pump], timeout=_CLOSING_S)
            if closing:
                log.warning("call %s: its connection is still being closed", request.call_id)

    async def abort(self, call_id: str) -> None:
        call = self._calls.get(call_id)
        if call is not None and not call.has_ended:
            call.scope.cancel()
            self._put(call, call.answer.close())
            call.end(call.answer.final("cancelled"))

    async def health(self) -> Health:
        sent = sum(call.is_sent for call in self._calls.values())
        found = await self._probe.health()
        without = f"{found.detail} {NO_FUNCTIONS}" if self._goes_without("tools") else found.detail
        return found.model_copy(
            update={
                "running": sent,
                "waiting": len(self._calls) - sent,
                "tokens_per_s": self._meter.rate,
                "detail": without.strip(),
            },
        )

    async def close(self) -> None:
        for call in list(self._calls.values()):
            call.scope.cancel()
            call.end(EngineLost("The worker is stopping."))
        if self._pumps:
            await asyncio.wait(self._pumps, timeout=_CLOSING_S)
        await self._probe.close()
        await self._client.aclose()

    # --- one call ----------------------------------------------------------------------------------------------------

    async def _pump(self, call: _Call) -> None:
        """Read the answer into `call.items`, which ends with a `Final` or an error whatever happens."""
        try:
            with call.scope:
                await self._ask(call)
        except BackendError as error:
            call.end(error)
        except Exception as error:
            log.exception("call %s", call.request.call_id)
            call.end(EngineLost(f"The answer of {self._alias.base_url} could not be read ({error})."))

    async def _ask(self, call: _Call) -> None:
        body = self._body(call.request)
        tries = 0
        while True:
            wait = None
            try:
                async with self._sent(call, body) as response:
                    if response.status_code == 200:
                        await self._read(call, response)
                        return
                    said = (await response.aread())[:65536]
                    error = http_errors.error_for_status(self._alias, response.status_code, said)
                    if self._fits_when_shorter(body, error, said) or self._leaves_out(body, response.status_code, said):
                        continue
                    if response.status_code in http_errors.BUSY and isinstance(error, BackendUnavailable):
                        wait = http_errors.retry_after_s(response.headers)
                        limit = self._options.retries
                    else:
                        raise error
            except httpx.TransportError as broken:
                error = http_errors.error_for_transport(self._alias, broken)
                limit = min(_CONNECT_RETRIES, self._options.retries)
                if not isinstance(error, BackendUnavailable):
                    error.retryable = not call.answer.has_begun
                    raise error from broken
            if tries >= limit:
                raise error
            tries += 1
            await self._wait(tries, wait)

    @contextlib.asynccontextmanager
    async def _sent(self, call: _Call, body: dict[str, Any]) -> AsyncIterator[httpx.Response]:
        """The response to one sending, its body unread. Waits while as many are out as the alias allows."""
        async with self._places:
            call.is_sent = True
            try:
                address, headers = f"{self._alias.base_url}/chat/completions", self._options.names(call.request)
                async with self._client.stream("POST", address, json=body, headers=headers) as response:
                    yield response
            finally:
                call.is_sent = False

    async def _wait(self, tries: int, wished: float | None) -> None:
        """As long as the server wishes, else doubling from half a second, spread so that calls do not return as one."""
        own = min(20.0, 0.5 * 2 ** (tries - 1)) * random.uniform(0.75, 1.25)  # noqa: S311 - no secret
        await asyncio.sleep(min(wished if wished is not None else own, _LONGEST_WAIT_S) * self._wait_scale)

    def _fits_when_shorter(self, body: dict[str, Any], error: BackendError, said: bytes) -> bool:
        """Servers refuse a prompt that fits when `max_tokens` goes beyond the context; ask once more for what fits."""
        room = http_errors.room_left(said) if isinstance(error, RequestRejected) else None
        name = self._options.max_tokens_field
        if room is None or room >= body[name]:
            return False
        body[name] = room
        return True

    def _leaves_out(self, body: dict[str, Any], status: int, said: bytes) -> bool:
        """A server that knows no functions or no structural tags is asked without them, and for a while at once: the prompt
        says how to write the same as text."""
        if "tools" in body and http_errors.refuses_tools(status, said):
            name = "tools"
        elif body.get("response_format", {}).get("type") == "structural_tag" and status in (400, 422, 501):
            name = "response_format"
        else:
            return False
        log.warning("%s is asked without %s: %s", self._alias.name, name, http_errors.said_by(said))
        self._without_until[name] = time.monotonic() + _WITHOUT_S
        del body[name]
        return True

    def _goes_without(self, name: str) -> bool:
        return time.monotonic() < self._without_until[name]

    async def _read(self, call: _Call, response: httpx.Response) -> None:
        answer = call.answer
        if "text/event-stream" not in response.headers.get("content-type", ""):
            self._put(call, answer.take_whole(await response.aread()))
        else:
            async for data in event_data(response.aiter_lines()):
                if data.strip() == "[DONE]":
                    break
                self._put(call, answer.take(data))
        reason = answer.finish_reason
        if reason is None:
            lost = EngineLost("The model server ended the stream without a result.")
            lost.retryable = not answer.has_begun
            raise lost
        self._put(call, answer.close())
        call.end(answer.final(reason))

    def _put(self, call: _Call, delta: Delta | None) -> None:
        if delta is not None:
            self._meter.add(delta.tokens)
            call.items.put_nowait(delta)

    def _body(self, request: GenerationRequest) -> dict[str, Any]:
        options, sampling = self._options, request.sampling
        body: dict[str, Any] = {
            "model": self._alias.model,
            "messages": _messages(request),
            "stream": True,
            options.max_tokens_field: sampling.max_new_tokens,
        }
        if options.stream_usage:
            body["stream_options"] = {"include_usage": True}
        if options.send_sampling:
            body |= {"temperature": sampling.temperature, "top_p": sampling.top_p}
        if options.send_seed:
            body["seed"] = request.seed % 2**31
        if sampling.stop:
            body["stop"] = list(sampling.stop)
        if request.json_schema is not None and options.structured_output == "json_schema":
            schema = {"name": "answer", "schema": request.json_schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif request.json_schema is not None and options.structured_output == "json_object":
            body["response_format"] = {"type": "json_object"}
        elif request.ending is not None and self._alias.closing == "grammar" and not self._goes_without("response_format"):
            body["response_format"] = structural_tag(request.ending)
        if request.tools and not self._goes_without("tools"):
            body["tools"] = [{"type": "function", "function": tool.model_dump()} for tool in request.tools]
        return body | options.extra_body


def _messages(request: GenerationRequest) -> list[dict[str, Any]]:
    """The messages as the protocol wants them; the last one in parts where pictures come with it."""
    messages: list[dict[str, Any]] = [{"role": message.role, "content": message.content} for message in request.messages]
    if request.pictures and messages:
        shown = [
            {"type": "image_url", "image_url": {"url": f"data:{picture.media};base64,{picture.data}"}}
            for picture in request.pictures
        ]
        messages[-1]["content"] = [{"type": "text", "text": messages[-1]["content"]}, *shown]
    return messages


async def _next(call: _Call) -> Delta | Final | BackendError:
    if not call.items.empty():
        return call.items.get_nowait()
    left = call.answer.began + call.request.deadline_s - time.monotonic()
    try:
        async with asyncio.timeout(max(left, 0.0)):
            return await call.items.get()
    except TimeoutError:
        raise DeadlineExceeded(f"The call took longer than {call.request.deadline_s:g} s and was stopped.") from None
