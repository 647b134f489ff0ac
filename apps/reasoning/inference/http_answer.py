"""One answer of a chat completions server, put together from its chunks."""

import json
import time
from typing import Any

from apps.reasoning.domain.errors import EngineLost, RequestRejected
from apps.reasoning.domain.generation import Delta, Final, FinishReason, GenerationRequest, Usage
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.inference.http_errors import error_in_stream, said_by
from apps.reasoning.inference.reasoning_tags import Pieces, TagSplitter
from apps.reasoning.inference.tool_text import ToolText

_CHARACTERS_A_TOKEN = 4


class Answer:
    """Text, reasoning, finish reason and usage so far. A chunk with text counts as one token until the server says better.

    Calls of functions are written into the text (`tool_text.py`).
    """

    def __init__(self, request: GenerationRequest, alias: Alias) -> None:
        self.began = time.monotonic()
        self.finish_reason: FinishReason | None = None
        self._request = request
        self._alias = alias
        self._splitter = TagSplitter(alias.reasoning_tags) if alias.reasoning_tags else None
        self._calls = ToolText()
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._first_at: float | None = None
        self._chunks = 0
        self._thoughts = 0
        self._usage: dict[str, Any] = {}

    @property
    def has_begun(self) -> bool:
        """True once something of the answer was received: from then on the call must not be repeated unasked."""
        return self._chunks > 0

    def take(self, data: str) -> Delta | None:
        """One chunk of a stream. Raises `BackendError` where the server reports one or writes no JSON."""
        chunk = self._parsed(data)
        if chunk.get("error"):
            raise error_in_stream(self._alias, said_by(data))
        if isinstance(chunk.get("usage"), dict):
            self._usage = chunk["usage"]
        choices = chunk.get("choices") or []
        if not choices:
            return None
        self._finish(choices[0].get("finish_reason"))
        return self._piece(choices[0].get("delta") or {})

    def take_whole(self, body: bytes) -> Delta | None:
        """The answer of a server that does not stream."""
        answer = self._parsed(body.decode("utf-8", "replace"))
        if answer.get("error"):
            raise error_in_stream(self._alias, said_by(body))
        choices = answer.get("choices") or []
        if not choices:
            raise EngineLost(f"{self._alias.base_url} answers without a choice; is it a chat completions server?")
        self._usage = answer.get("usage") or {}
        self._finish(choices[0].get("finish_reason") or "stop")
        return self._piece(choices[0].get("message") or {})

    def close(self) -> Delta | None:
        """What was held back as a possible tag or behind the call of a function, and tokens that shared a chunk: a busy server
        sends several at once."""
        text, reasoning = self._splitter.close() if self._splitter is not None else Pieces("", "")
        if self._calls.is_open:
            self._calls.after(text)
            text = self._calls.close(follows_text=any(self._text))
        uncounted = max(0, self._counted().completion - self._chunks)
        return self._kept(text, reasoning, uncounted) if text or reasoning or uncounted else None

    def final(self, reason: FinishReason) -> Final:
        return Final(
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            finish_reason=reason,
            usage=self._counted(),
            ttft_s=self._first_at - self.began if self._first_at is not None else None,
            duration_s=time.monotonic() - self.began,
            model_revision=self._alias.revision or self._alias.model,
        )

    def _parsed(self, data: str) -> dict[str, Any]:
        try:
            found = json.loads(data)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            error = EngineLost(f'{self._alias.base_url} wrote something that is not JSON: "{data[:80]}"')
            error.retryable = not self.has_begun
            raise error
        return found

    def _finish(self, reason: str | None) -> None:
        if reason is None:
            return
        if reason == "content_filter":
            raise RequestRejected("The content filter of the model server stopped the answer.")
        if reason in ("abort", "error"):
            error = EngineLost("The model server gave the call up.")
            error.retryable = not self.has_begun
            raise error
        self.finish_reason = "length" if reason in ("length", "max_tokens") else "stop"

    def _piece(self, piece: dict[str, Any]) -> Delta | None:
        text = piece.get("content") or ""
        reasoning = piece.get("reasoning_content") or piece.get("reasoning") or ""
        calls = piece.get("tool_calls") or []
        if not text and not reasoning and not calls:
            return None
        self._first_at = self._first_at or time.monotonic()
        self._chunks += 1
        if reasoning or (self._splitter is not None and self._splitter.inside):
            self._thoughts += 1
        if self._splitter is not None and text:
            pieces = self._splitter.push(text)
            text, reasoning = pieces.text, reasoning + pieces.reasoning
        if calls or self._calls.is_open:
            text, thought = self._with_calls(text, calls)
            reasoning += thought
        return self._kept(text, reasoning, 1)

    def _with_calls(self, text: str, calls: Any) -> Pieces:
        """What a chunk with calls of functions, or one after them, adds: text before the first call goes before it."""
        held = Pieces("", "")
        if self._calls.is_open:
            self._calls.after(text)
            text = ""
        elif self._splitter is not None:
            held = self._splitter.close()
        before = text + held.text
        follows = any(self._text) or bool(before)
        called = self._calls.push(calls, follows_text=follows) if isinstance(calls, list) else ""
        return Pieces(before + called, held.reasoning)

    def _kept(self, text: str, reasoning: str, tokens: int) -> Delta:
        self._text.append(text)
        self._reasoning.append(reasoning)
        return Delta(text=text, reasoning=reasoning, tokens=tokens)

    def _counted(self) -> Usage:
        """The server's counts; where it gives none, chunks for the completion and an estimate for the prompt."""
        usage = self._usage
        prompt_size = sum(len(message.content) for message in self._request.messages)
        completion = _number(usage.get("completion_tokens"), self._chunks)
        details = usage.get("completion_tokens_details") or {}
        return Usage(
            prompt=_number(usage.get("prompt_tokens"), prompt_size // _CHARACTERS_A_TOKEN + 1),
            cached=_number((usage.get("prompt_tokens_details") or {}).get("cached_tokens"), 0),
            completion=completion,
            reasoning=min(completion, _number(details.get("reasoning_tokens"), self._thoughts)),
        )


def _number(found: Any, otherwise: int) -> int:
    return found if isinstance(found, int) and found >= 0 else otherwise
