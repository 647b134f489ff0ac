"""The scripted backend: texts written beforehand, streamed at a chosen speed. For tests, benchmarks and the worked example.

A token is a word with the white space after it. Everything is deterministic: the same request gives the same stream, and
several completions of one call are alike. Captured tokens are made up, the same for the same words (made_up.py).
"""

import asyncio
import base64
import hashlib
import json
import math
import random
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from apps.reasoning.domain.errors import AliasError, BackendError, DeadlineExceeded, RequestRejected
from apps.reasoning.domain.generation import Delta, Final, FinishReason, GenerationRequest, Health, Picture, Sample, Usage
from apps.reasoning.domain.values import Value
from apps.reasoning.inference.abilities import reject_what_is_missing
from apps.reasoning.inference.made_up import made_up_capture
from apps.reasoning.inference.meter import RateMeter

_TOKEN = re.compile(r"\s*\S+\s*|\s+\Z")
#: What a picture counts in a prompt.
PICTURE_TOKENS = 64


class Reply(Value):
    """What the script answers: the text, and the reasoning text streamed before it."""

    text: str
    reasoning: str = ""


Texts = Mapping[str, "str | Reply"] | Sequence["str | Reply"] | Callable[[GenerationRequest], "str | Reply"]


class Faults(Value):
    """Faults by call number (from 1): `fail` sends nothing, `cut` stops after that many tokens, `hang` waits until aborted."""

    model_config = {"frozen": True, "extra": "forbid", "arbitrary_types_allowed": True}

    fail: dict[int, BackendError] = {}
    cut: dict[int, int] = {}
    hang: frozenset[int] = frozenset()


class Pace(Value):
    """How fast a script is played. `tokens_per_s` 0: at once; `chunk_tokens` 0: in one piece.

    `latency_s` is the median wait before the first token, log-normal with `latency_sigma`, drawn from the call's key and seed.
    """

    tokens_per_s: float = 0.0
    chunk_tokens: int = 1
    latency_s: float = 0.0
    latency_sigma: float = 0.5


class _Call:
    def __init__(self) -> None:
        self.stopped = asyncio.Event()


class ScriptedBackend:
    """A `Backend` that plays `texts`: by exact call key, in order of the calls, or by a function of the request.

    With `vision` it also takes pictures; a text for one is looked up under `picture_key` if the call's key has none.
    A `revision` that is called names the policy in force when a call, or a segment of its answer, begins.
    """

    def __init__(
        self,
        texts: Texts,
        *,
        pace: Pace | None = None,
        faults: Faults | None = None,
        context_tokens: int = 1_000_000,
        revision: str | Callable[[], str] = "scripted",
        vision: bool = False,
    ) -> None:
        self._texts = texts
        self._pace = pace or Pace()
        self._faults = faults or Faults()
        self._context_tokens = context_tokens
        self._revision: Callable[[], str] = revision if callable(revision) else lambda: revision
        self._vision = vision
        self._asked = 0
        self._calls: dict[str, _Call] = {}
        self._meter = RateMeter()

    async def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        """See `Backend.generate`. Raises `RequestRejected` where the script has no text for the call."""
        reject_what_is_missing(request, "scripted", several=True, tools=True, vision=self._vision)
        self._asked += 1
        number = self._asked
        began = time.monotonic()
        words = sum(len(message.content.split()) for message in request.messages)
        prompt_tokens = words + PICTURE_TOKENS * len(request.pictures)
        if prompt_tokens >= self._context_tokens:
            raise RequestRejected(
                f"The prompt has {prompt_tokens} tokens; the context of {request.alias} holds {self._context_tokens}."
            )
        if number in self._faults.fail:
            raise self._faults.fail[number]
        plan = _Plan(self._reply(request, number), request, self._faults.cut.get(number))
        call = self._calls[request.call_id] = _Call()
        try:
            if number in self._faults.hang:
                await self._wait(call, math.inf, began + request.deadline_s, request)
            async with aclosing(self._played(plan, call, request, began, prompt_tokens)) as items:
                async for item in items:
                    yield item
        finally:
            if self._calls.get(request.call_id) is call:
                del self._calls[request.call_id]

    async def _played(
        self, plan: "_Plan", call: _Call, request: GenerationRequest, began: float, prompt_tokens: int
    ) -> AsyncGenerator[Delta | Final, None]:
        pace, sent, first_at = self._pace, 0, None
        policies = [self._revision()]
        start = began + self._latency(request)
        while sent < plan.total and not call.stopped.is_set():
            if sent == len(policies) * request.drawn_at_once:
                policies.append(self._revision())
            end = min(plan.total, len(policies) * request.drawn_at_once)
            size = min(pace.chunk_tokens or end, end - sent)
            due = start + (sent + size) / pace.tokens_per_s if pace.tokens_per_s else start
            await self._wait(call, due, began + request.deadline_s, request)
            if call.stopped.is_set():
                break
            first_at = first_at or time.monotonic()
            delta = plan.delta(sent, sent + size)
            sent += size
            self._meter.add(size)
            yield delta
        ended = _ended(plan, request, sent, policies, is_stopped=call.stopped.is_set())
        ttft_s = first_at - began if first_at is not None else None
        usage = ended.usage.model_copy(update={"prompt": prompt_tokens})
        yield ended.model_copy(update={"usage": usage, "ttft_s": ttft_s, "duration_s": time.monotonic() - began})

    async def _wait(self, call: _Call, due: float, deadline: float, request: GenerationRequest) -> None:
        """Sleep until `due`, the abort or the deadline; without a wait, let the other calls have their turn."""
        now = time.monotonic()
        if due <= now:
            await asyncio.sleep(0)
            return
        try:
            await asyncio.wait_for(call.stopped.wait(), min(due, deadline) - now)
        except TimeoutError:
            if deadline <= due:
                raise DeadlineExceeded(f"The call took longer than {request.deadline_s:g} s and was stopped.") from None

    def _latency(self, request: GenerationRequest) -> float:
        if not self._pace.latency_s:
            return 0.0
        draw = random.Random(f"{request.key}#{request.seed}")  # noqa: S311 - a fake wait, not a secret
        return draw.lognormvariate(math.log(self._pace.latency_s), self._pace.latency_sigma)

    def _reply(self, request: GenerationRequest, number: int) -> Reply:
        texts = self._texts
        found: str | Reply | None
        if callable(texts):
            found = texts(request)
        elif isinstance(texts, Mapping):
            found = next((texts[key] for key in (request.key, *map(picture_key, request.pictures)) if key in texts), None)
        else:
            found = texts[number - 1] if number <= len(texts) else None
        if found is None:
            raise RequestRejected(f"The script has no text for the call {request.key}.")
        return Reply(text=found) if isinstance(found, str) else found

    async def abort(self, call_id: str) -> None:
        call = self._calls.get(call_id)
        if call is not None:
            call.stopped.set()

    async def health(self) -> Health:
        return Health(state="ready", detail="Texts from a script.", running=len(self._calls), tokens_per_s=self._meter.rate)

    async def close(self) -> None:
        for call in self._calls.values():
            call.stopped.set()


def picture_key(picture: Picture) -> str:
    """`picture/…`, the sha-256 of the file in hex: under it a script has what to answer to this picture, whatever is asked."""
    return f"picture/{hashlib.sha256(base64.b64decode(picture.data)).hexdigest()}"


class _Plan:
    """A reply cut into tokens, shortened by stop strings, `max_new_tokens` and the fault "cut"."""

    def __init__(self, reply: Reply, request: GenerationRequest, cut: int | None) -> None:
        text = reply.text
        places = [place for place in (text.find(stop) for stop in request.sampling.stop if stop) if place >= 0]
        if places:
            text = text[: min(places)]
        self._reasoning = _TOKEN.findall(reply.reasoning)
        self._text = _TOKEN.findall(text)
        self.reasoning_tokens = len(self._reasoning)
        written = self.reasoning_tokens + len(self._text)
        limit = request.sampling.max_new_tokens if cut is None else min(cut, request.sampling.max_new_tokens)
        self.total = min(written, limit)
        self.finish_reason: FinishReason = "length" if self.total < written else "stop"

    def tokens(self, end: int) -> list[str]:
        """The first `end` tokens, reasoning first."""
        return [*self._reasoning, *self._text][:end]

    def delta(self, start: int, end: int) -> Delta:
        """The tokens `start` (included) to `end` (excluded), reasoning first."""
        split = self.reasoning_tokens
        return Delta(
            reasoning="".join(self._reasoning[start : min(end, split)]),
            text="".join(self._text[max(start - split, 0) : max(end - split, 0)]),
            tokens=end - start,
        )


def _ended(plan: _Plan, request: GenerationRequest, sent: int, policies: Sequence[str], *, is_stopped: bool) -> Final:
    """The result after `sent` tokens, drawn in segments under `policies`; without times and prompt."""
    whole = plan.delta(0, sent)
    reason: FinishReason = "cancelled" if is_stopped else plan.finish_reason
    capture = made_up_capture(request, plan.tokens(sent), *policies) if request.capture else None
    other = Sample(text=whole.text, reasoning=whole.reasoning, finish_reason=reason, capture=capture)
    return Final(
        text=whole.text,
        reasoning=whole.reasoning,
        finish_reason=reason,
        usage=Usage(completion=sent * request.n, reasoning=min(sent, plan.reasoning_tokens) * request.n),
        more=(other,) * (request.n - 1),
        capture=capture,
        model_revision=policies[-1],
    )


_SCRIPT: TypeAdapter[dict[str, str | Reply]] = TypeAdapter(dict[str, str | Reply])


def load_script(path: Path) -> dict[str, str | Reply]:
    """The texts of a script file by call key: JSON `{key: text}` or `{key: {"text": …, "reasoning": …}}`.

    Raises `AliasError`.
    """
    try:
        return _SCRIPT.validate_python(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise AliasError(f"The script {path} cannot be read ({error.strerror}).") from error
    except json.JSONDecodeError as error:
        raise AliasError(f"The script {path}, line {error.lineno}, is not valid JSON: {error.msg}.") from error
    except (ValidationError, UnicodeDecodeError) as error:
        raise AliasError(f"The script {path} must be one JSON object of texts by call key.") from error
