"""Splitters that separate reasoning from text in the stream of one completion of vLLM.

A token costs the same at the end of a long answer as at its beginning: no splitter copies or searches what came before.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from apps.reasoning.domain.errors import BackendRefused
from apps.reasoning.inference.aliases import Alias, VllmOptions
from apps.reasoning.inference.reasoning_tags import TagSplitter

#: The parser of gpt-oss, whose format vLLM reads with a parser of its own.
HARMONY = "openai_gptoss"
#: Tokens at the end of a prompt in which a template may close the reasoning. Earlier tags belong to earlier messages.
TAIL = 32


class Splitter(Protocol):
    """Separates reasoning from text in a stream.

    `push` returns `(text, reasoning, tokens of reasoning)`, `close` the text and reasoning that were held back.
    """

    def push(self, piece: str, tokens: Sequence[int]) -> tuple[str, str, int]: ...

    def close(self) -> tuple[str, str]: ...


class AllText:
    """A splitter for models without reasoning."""

    def push(self, piece: str, tokens: Sequence[int]) -> tuple[str, str, int]:
        return piece, "", 0

    def close(self) -> tuple[str, str]:
        return "", ""


class ByTags:
    """A splitter for reasoning between two tags. A prompt that ends with the first tag has already opened it."""

    def __init__(self, tags: tuple[str, str], prompt_end: str) -> None:
        self._splitter = TagSplitter(tags, opened=prompt_end.rstrip().endswith(tags[0]))

    def push(self, piece: str, tokens: Sequence[int]) -> tuple[str, str, int]:
        thought = len(tokens) if self._splitter.inside else 0
        text, reasoning = self._splitter.push(piece)
        return text, reasoning, thought

    def close(self) -> tuple[str, str]:
        pieces = self._splitter.close()
        return pieces.text, pieces.reasoning


class SeenTokens(list[int]):
    """Tokens in their order. Parsers ask at each piece whether a tag is among them, which takes constant time here."""

    def __init__(self) -> None:
        super().__init__()
        self._known: set[int] = set()

    def extend(self, tokens: Iterable[int]) -> None:
        tokens = list(tokens)
        super().extend(tokens)
        self._known.update(tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._known


class ByParser:
    """A splitter that uses one of vLLM's reasoning parsers, which knows how a family of models marks its reasoning.

    After the end of the reasoning everything is text, so the parser is not asked any more. Parsers on vLLM's parser engine hold
    back what may become a tag; they give it at the end of the reasoning and of the answer.
    """

    def __init__(self, parser: Any, prompt_ids: Sequence[int]) -> None:
        self._parser = parser
        self._has_engine = bool(parser.engine_based_streaming)
        # Some parsers call an empty prompt ended, too: their models need not reason.
        self._ended = parser.is_reasoning_end(list(prompt_ids[-TAIL:])) and not parser.is_reasoning_end([])
        self._text = ""
        self._before, self._tokens = SeenTokens(), SeenTokens()
        if not self._ended:
            parser.adjust_initial_state_from_prompt(prompt_ids)

    def push(self, piece: str, tokens: Sequence[int]) -> tuple[str, str, int]:
        if self._ended:
            return piece, "", 0
        drawn, before = list(tokens), self._text
        if not self._has_engine:  # Others read no text but the piece.
            self._text += piece
            self._before.extend(self._tokens[len(self._before) :])
            self._tokens.extend(drawn)
        found = self._parser.extract_reasoning_streaming(before, self._text, piece, self._before, self._tokens, drawn)
        text, reasoning = _parts(found)
        if self._has_engine and self._parser.has_engine_confirmed_reasoning_end():
            text += self.close()[0]
            self._ended = True
        return text, reasoning, len(drawn) if reasoning and not text else 0

    def close(self) -> tuple[str, str]:
        return _parts(self._parser.finish_streaming()) if self._has_engine and not self._ended else ("", "")


class ByWholeParser:
    """A splitter for families that vLLM reads with one parser of everything, such as gpt-oss. `asked` is vLLM's own request."""

    def __init__(self, parser: Any, prompt_ids: Sequence[int], asked: Any) -> None:
        self._parser = parser
        self._asked = asked
        self._prompt_ids = list(prompt_ids)

    def push(self, piece: str, tokens: Sequence[int]) -> tuple[str, str, int]:
        text, reasoning = self._read(piece, tokens)
        return text, reasoning, len(tokens) if reasoning and not text else 0

    def close(self) -> tuple[str, str]:
        return self._read("", (), finished=True)

    def _read(self, piece: str, tokens: Sequence[int], *, finished: bool = False) -> tuple[str, str]:
        drawn = list(tokens)
        return _parts(self._parser.parse_delta(piece, drawn, self._asked, self._prompt_ids, finished=finished))


def _parts(found: Any) -> tuple[str, str]:
    """Text and reasoning of a parser's message."""
    return (found.content or "", found.reasoning or "") if found is not None else ("", "")


def reasoning_splitters(alias: Alias, engine: Any, prompt_ids: Sequence[int], count: int) -> list[Splitter]:
    """One splitter for each completion: vLLM's parser if the alias names one, else its tags. `engine` is a `RunningEngine`."""
    options = alias.options
    assert isinstance(options, VllmOptions)
    if options.reasoning_parser:
        made = (options.reasoning_parser, engine.llm.get_tokenizer(), options.chat_template_kwargs)
        return [by_parser(*made, prompt_ids) for _ in range(count)]
    if alias.reasoning_tags is not None:
        end = engine.prompt.text(prompt_ids[-16:])
        return [ByTags(alias.reasoning_tags, end) for _ in range(count)]
    return [AllText() for _ in range(count)]


def by_parser(name: str, tokenizer: Any, variables: Any, prompt_ids: Sequence[int]) -> Splitter:
    """A splitter with vLLM's parser `name`; `variables` are those of the chat template.

    Raises `BackendRefused` if vLLM has no such parser, or if it does not fit the tokenizer.
    """
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.parser import ParserManager
    from vllm.parser.abstract_parser import DelegatingParser

    try:
        kind = ParserManager.get_parser(reasoning_parser_name=name, is_harmony=name == HARMONY)
        assert kind is not None
        parser = kind(tokenizer, chat_template_kwargs=variables)
    except Exception as error:
        raise BackendRefused(f"options.reasoning_parser = “{name}” cannot be used: {error.__cause__ or error}") from error
    if kind.parse_delta is DelegatingParser.parse_delta:
        return ByParser(parser.reasoning_parser, prompt_ids)
    return ByWholeParser(parser, prompt_ids, ChatCompletionRequest(messages=[], model=""))
