"""Function calls in the output of vLLM: one of its tool parsers reads them, and they become text (inference/tool_text.py).

vLLM documents the parser for each family of models: `hermes` for Qwen, `llama3_json`, `mistral`, … (docs/models.md).
"""

from collections.abc import Sequence
from typing import Any

from apps.reasoning.domain.errors import BackendRefused, RequestRejected
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.inference.tool_text import ToolText
from workers.engines.vllm_reasoning import Splitter


class WithCalls:
    """A `Splitter` behind another one: a tool parser reads its text and separates calls from text.

    `asked` is the request in vLLM's own type, which its parsers require. The lists of tokens grow in place, as in `ByParser`.
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
        return self._parse(text, tokens) if text else "", reasoning, thought

    def close(self) -> tuple[str, str]:
        held, reasoning = self._splitter.close()
        text = self._parse(held, ()) if held else ""
        finish = getattr(self._parser, "finish_streaming", None)
        if finish is not None:
            text += self._text_of(finish())
        elif not self._calls.is_open:
            # The parser held back text as the beginning of a call, but no call followed.
            return text + self._read[self._written :], reasoning
        elif rest := self._parser.get_remaining_unstreamed_args():
            last = max(0, len(self._parser.prev_tool_call_arr) - 1)
            text += self._calls.push([{"index": last, "function": {"arguments": rest}}], follows_text=self._written > 0)
        return text + self._calls.close(follows_text=self._written > 0), reasoning

    def _parse(self, text: str, tokens: Sequence[int]) -> str:
        before = self._read
        self._read += text
        self._before += self._tokens[len(self._before) :]
        self._tokens += tokens
        found = self._parser.extract_tool_calls_streaming(
            before, self._read, text, self._before, self._tokens, list(tokens), self._asked
        )
        return self._text_of(found)

    def _text_of(self, found: Any) -> str:
        """The text of a message of the parser."""
        if found is None:
            return ""
        text = found.content or ""
        if text and self._calls.is_open:
            self._calls.after(text)
            text = ""
        self._written += len(text)
        pieces = [call.model_dump(exclude_none=True) for call in found.tool_calls or ()]
        return text + self._calls.push(pieces, follows_text=self._written > 0)


def with_calls(splitters: Sequence[Splitter], tokenizer: Any, parser_name: str, request: GenerationRequest) -> list[Splitter]:
    """`splitters`, each with a reader of calls. Raises `BackendRefused` if vLLM has no such parser."""
    if not parser_name:
        raise RequestRejected(f"{request.alias} cannot call functions: set options.tool_parser in models.toml.")
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.tool_parsers import ToolParserManager

    try:
        parser = ToolParserManager.get_tool_parser(parser_name)
    except KeyError:
        known = ", ".join(ToolParserManager.list_registered())
        raise BackendRefused(
            f"vLLM has no tool parser {parser_name}. Correct options.tool_parser of {request.alias}; vLLM has: {known}."
        ) from None
    asked = ChatCompletionRequest(
        model=request.alias,
        messages=[{"role": message.role, "content": message.content} for message in request.messages],
        tools=[{"type": "function", "function": tool.model_dump()} for tool in request.tools],
        tool_choice="auto",
    )
    return [WithCalls(splitter, parser(tokenizer, asked.tools), asked) for splitter in splitters]
