"""Calls of functions in what vLLM writes: one of its tool parsers reads them, and they become text (inference/tool_text.py).

Which parser a family of models needs is vLLM's to say: `hermes` for Qwen, `llama3_json`, `mistral`, … (docs/models.md).
"""

from collections.abc import Sequence
from typing import Any

from apps.reasoning.domain.errors import BackendRefused, RequestRejected
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.inference.tool_text import ToolText
from workers.engines.vllm_answer import Splitter


class WithCalls:
    """A `Splitter` behind another one: what that leaves as text is read by a tool parser, which tells text from calls.

    `asked` is the request in vLLM's own form, which its parsers want. The lists of tokens grow, as in `ByParser`.
    """

    def __init__(self, splitter: Splitter, parser: Any, asked: Any) -> None:
        self._splitter = splitter
        self._parser = parser
        self._asked = asked
        self._calls = ToolText()
        self._read = ""
        self._written = 0
        self._before: list[int] = []
        self._tokens: list[int] = []

    def push(self, piece: str, tokens: Sequence[int]) -> tuple[str, str, int]:
        text, reasoning, thought = self._splitter.push(piece, tokens)
        return self._told(text, tokens) if text else "", reasoning, thought

    def close(self) -> tuple[str, str]:
        held, reasoning = self._splitter.close()
        text = self._told(held, ()) if held else ""
        finish = getattr(self._parser, "finish_streaming", None)
        if finish is not None:
            text += self._taken(finish())
        elif not self._calls.is_open:
            # What the parser held back as the beginning of a call was none.
            return text + self._read[self._written :], reasoning
        elif rest := self._parser.get_remaining_unstreamed_args():
            last = max(0, len(self._parser.prev_tool_call_arr) - 1)
            text += self._calls.push([{"index": last, "function": {"arguments": rest}}], follows_text=self._written > 0)
        return text + self._calls.close(follows_text=self._written > 0), reasoning

    def _told(self, text: str, tokens: Sequence[int]) -> str:
        before = self._read
        self._read += text
        self._before += self._tokens[len(self._before) :]
        self._tokens += tokens
        found = self._parser.extract_tool_calls_streaming(
            before, self._read, text, self._before, self._tokens, list(tokens), self._asked
        )
        return self._taken(found)

    def _taken(self, found: Any) -> str:
        """What a message of the parser adds to the text."""
        if found is None:
            return ""
        said = found.content or ""
        if said and self._calls.is_open:
            self._calls.after(said)
            said = ""
        self._written += len(said)
        pieces = [call.model_dump(exclude_none=True) for call in found.tool_calls or ()]
        return said + self._calls.push(pieces, follows_text=self._written > 0)


def with_calls(splitters: Sequence[Splitter], tokenizer: Any, parser_name: str, request: GenerationRequest) -> list[Splitter]:
    """A reader of calls behind each of `splitters`. Raises `BackendRefused` where vLLM has no such parser."""
    if not parser_name:
        raise RequestRejected(f"{request.alias} reads no calls of functions: name options.tool_parser in models.toml.")
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.tool_parsers import ToolParserManager

    try:
        parser = ToolParserManager.get_tool_parser(parser_name)
    except KeyError:
        known = ", ".join(ToolParserManager.list_registered())
        raise BackendRefused(
            f"vLLM has no tool parser {parser_name}; correct options.tool_parser of {request.alias}. It has: {known}."
        ) from None
    asked = ChatCompletionRequest(
        model=request.alias,
        messages=[{"role": message.role, "content": message.content} for message in request.messages],
        tools=[{"type": "function", "function": tool.model_dump()} for tool in request.tools],
        tool_choice="auto",
    )
    return [WithCalls(splitter, parser(tokenizer, asked.tools), asked) for splitter in splitters]
