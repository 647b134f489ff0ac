"""A model server for tests with streaming chat completions over real HTTP, and the faults of real servers.

Its response to a request depends on the model name or on `next_answers`, a queue of canned answers.
"""

import asyncio
import base64
import json
import re
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


@dataclass
class Canned:
    """A canned answer: status, headers and body pieces. `cut` closes the connection before its end."""

    status: int = 200
    body: tuple[bytes, ...] = ()
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "text/event-stream"
    cut: bool = False


def sse(*chunks: dict[str, Any] | str) -> bytes:
    """Chunks as server-sent events."""
    return b"".join(f"data: {chunk if isinstance(chunk, str) else json.dumps(chunk)}\n\n".encode() for chunk in chunks)


def piece(text: str = "", *, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """A chunk of a stream."""
    return {"choices": [{"index": 0, "delta": ({"content": text} if text else {}) | delta, "finish_reason": finish}]}


class FakeModelServer:
    """An ASGI application that answers with "word1 word2 …" derived from the prompt, up to the requested number of tokens."""

    def __init__(self) -> None:
        self.port = 0
        self.context = 512
        self.words = 60
        self.pause_s = 0.0
        self.running = 0
        self.most_at_once = 0
        self.disconnects = 0
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.next_answers: deque[Canned] = deque()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["path"] == "/v1/models":
            await _answer(send, 200, b'{"object": "list", "data": [{"id": "fake-model"}]}', "application/json")
            return
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        self.requests.append(json.loads(body))
        self.headers.append({name.decode(): value.decode() for name, value in scope["headers"]})
        if self.next_answers:
            await self._canned(self.next_answers.popleft(), send)
            return
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        try:
            await self._stream(json.loads(body), receive, send)
        finally:
            self.running -= 1

    async def _canned(self, canned: Canned, send: Send) -> None:
        headers = {"content-type": canned.content_type} | canned.headers
        if canned.cut:
            headers["content-length"] = "100000"
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": canned.status, "headers": raw})
        for part in canned.body:
            await send({"type": "http.response.body", "body": part, "more_body": True})
            await asyncio.sleep(0.01)
        if not canned.cut:
            await send({"type": "http.response.body", "body": b""})

    async def _stream(self, body: dict[str, Any], receive: Receive, send: Send) -> None:
        prompt = sum(len(_words(message["content"]).split()) for message in body["messages"])
        if prompt >= self.context:
            message = f"This model's maximum context length is {self.context} tokens. Your request has {prompt} input tokens."
            error = {"error": {"message": message, "code": "context_length_exceeded"}}
            await _answer(send, 400, json.dumps(error).encode(), "application/json")
            return
        tokens = self._tokens(body)
        limit = body.get("max_tokens", 10_000)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        gone = asyncio.create_task(_gone(receive))
        try:
            for token in tokens[:limit]:
                if gone.done():
                    self.disconnects += 1
                    return
                await send({"type": "http.response.body", "body": sse(piece(token)), "more_body": True})
                await asyncio.sleep(self.pause_s)
        finally:
            gone.cancel()
        finish = "length" if len(tokens) > limit else "stop"
        done = min(len(tokens), limit)
        usage: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": done, "total_tokens": prompt + done}
        usage["prompt_tokens_details"] = {"cached_tokens": 0}
        end = sse(piece(finish=finish), {"choices": [], "usage": usage}, "[DONE]")
        await send({"type": "http.response.body", "body": end})

    def _tokens(self, body: dict[str, Any]) -> list[str]:
        if "response_format" in body:
            return re.findall(r"\s*\S+", '{ "verdict": 1 }')
        name = re.sub(r"\W+", "", _words(body["messages"][-1]["content"]))[:12]
        text = " ".join(f"{name}{number}" for number in range(1, self.words + 1))
        for stop in body.get("stop", []):
            text = text.split(stop)[0]
        return re.findall(r"\s*\S+|\s+\Z", text)


def _words(content: str | list[dict[str, Any]]) -> str:
    """A message's text. For a message in parts: "seen" if they contain readable pictures, else the text of the parts."""
    if isinstance(content, str):
        return content
    shown = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    assert all(base64.b64decode(url.removeprefix("data:image/jpeg;base64,"), validate=True) for url in shown)
    return "seen" if shown else " ".join(part["text"] for part in content if part["type"] == "text")


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _answer(send: Send, status: int, body: bytes, content_type: str) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", content_type.encode())]})
    await send({"type": "http.response.body", "body": body})
