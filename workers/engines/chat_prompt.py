"""Prompt tokens from messages, with the model's own chat template, and the hashes that identify tokeniser and template."""

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from apps.reasoning.domain.errors import BackendUnavailable, RequestRejected
from apps.reasoning.domain.generation import Message, OfferedTool


class ChatPrompt:
    """The chat template of a transformers tokeniser. Thread-safe.

    `template` replaces the model's own; `variables` are passed to it, such as `enable_thinking`.
    Raises `BackendUnavailable` if there is no template.
    """

    def __init__(self, tokenizer: Any, *, template: str = "", variables: dict[str, Any] | None = None) -> None:
        self._tokenizer = tokenizer
        self._variables = variables or {}
        self._template: str | None = template or None
        if not template and not tokenizer.chat_template:
            raise BackendUnavailable("The model has no chat template; name a file with options.chat_template in models.toml.")
        self._signs = _signs(tokenizer)

    def tokens(self, messages: Sequence[Message], tools: Sequence[OfferedTool] = ()) -> list[int]:
        """The prompt up to the first token of the answer. A template without `tools` ignores them.

        Raises `RequestRejected` if the template refuses the roles.
        """
        plain = [{"role": message.role, "content": self.plain(message.content)} for message in messages]
        offered = [{"type": "function", "function": tool.model_dump()} for tool in tools]
        variables = self._variables | ({"tools": offered} if offered else {})
        try:
            text = self._tokenizer.apply_chat_template(
                plain, tokenize=False, add_generation_prompt=True, chat_template=self._template, **variables
            )
        except Exception as error:  # Templates are programs and may raise anything.
            raise RequestRejected(f"The chat template of the model refuses these messages: {error}") from error
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def text(self, tokens: Sequence[int]) -> str:
        """The tokens as text, control tokens included."""
        found: str = self._tokenizer.decode(list(tokens), skip_special_tokens=False)
        return found

    def plain(self, text: str) -> str:
        """Break control tokens in a text by a space, so that they cannot end a message or begin another role."""
        for sign in self._signs:
            if sign in text:
                text = text.replace(sign, f"{sign[0]} {sign[1:]}")
        return text

    @cached_property
    def tokenizer_hash(self) -> str:
        """SHA-256 of the vocabulary with its added tokens, and of the rules to split and join text where available."""
        backend = getattr(self._tokenizer, "backend_tokenizer", None)
        content = backend.to_str() if backend is not None else json.dumps(self._tokenizer.get_vocab(), sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    @cached_property
    def template_hash(self) -> str:
        """SHA-256 of the chat template and its variables."""
        template = self._template or self._tokenizer.chat_template
        content = json.dumps([template, self._variables], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()


def _signs(tokenizer: Any) -> list[str]:
    """Special tokens, and added tokens that look like them (`<think>`, `[INST]`); longest first."""
    added = {sign for sign in tokenizer.get_added_vocab() if sign[:1] in ("<", "[")}
    signs = {str(sign) for sign in tokenizer.all_special_tokens} | added
    return sorted((sign for sign in signs if len(sign.strip()) > 1), key=lambda sign: (-len(sign), sign))
