"""Messages to the tokens of a prompt, with the model's own chat template, and the hashes that say which one it was."""

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from apps.reasoning.domain.errors import BackendUnavailable, RequestRejected
from apps.reasoning.domain.generation import Message, OfferedTool


class ChatPrompt:
    """The chat template of a tokeniser of transformers. Its methods may be called from several threads.

    `template` replaces the model's own; `variables` are what the template knows by name, such as `enable_thinking`.
    Raises `BackendUnavailable` where there is no template at all.
    """

    def __init__(self, tokenizer: Any, *, template: str = "", variables: dict[str, Any] | None = None) -> None:
        self._tokenizer = tokenizer
        self._variables = variables or {}
        self._template: str | None = template or None
        if not template and not tokenizer.chat_template:
            raise BackendUnavailable("The model has no chat template; name a file with options.chat_template in models.toml.")
        self._signs = _signs(tokenizer)

    def tokens(self, messages: Sequence[Message], tools: Sequence[OfferedTool] = ()) -> list[int]:
        """The prompt up to where the model begins to write; a template that knows no `tools` passes them over.

        Raises `RequestRejected` where the template refuses the roles.
        """
        plain = [{"role": message.role, "content": self.plain(message.content)} for message in messages]
        offered = [{"type": "function", "function": tool.model_dump()} for tool in tools]
        variables = self._variables | ({"tools": offered} if offered else {})
        try:
            text = self._tokenizer.apply_chat_template(
                plain, tokenize=False, add_generation_prompt=True, chat_template=self._template, **variables
            )
        except Exception as error:  # Templates are programs, and refuse by raising what they like.
            raise RequestRejected(f"The chat template of the model refuses these messages: {error}") from error
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def text(self, tokens: Sequence[int]) -> str:
        """The tokens as text, control tokens included."""
        found: str = self._tokenizer.decode(list(tokens), skip_special_tokens=False)
        return found

    def plain(self, text: str) -> str:
        """Control tokens in a text are text: broken by a space, they cannot end a message or begin another role."""
        for sign in self._signs:
            if sign in text:
                text = text.replace(sign, f"{sign[0]} {sign[1:]}")
        return text

    @cached_property
    def tokenizer_hash(self) -> str:
        """SHA-256 of the vocabulary with its added tokens, and of how text is cut and joined where the tokeniser says."""
        backend = getattr(self._tokenizer, "backend_tokenizer", None)
        said = backend.to_str() if backend is not None else json.dumps(self._tokenizer.get_vocab(), sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()

    @cached_property
    def template_hash(self) -> str:
        """SHA-256 of the chat template and the variables it is given."""
        template = self._template or self._tokenizer.chat_template
        said = json.dumps([template, self._variables], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(said.encode()).hexdigest()


def _signs(tokenizer: Any) -> list[str]:
    """Special tokens, and added tokens that look like them (`<think>`, `[INST]`); longest first."""
    added = {sign for sign in tokenizer.get_added_vocab() if sign[:1] in ("<", "[")}
    signs = {str(sign) for sign in tokenizer.all_special_tokens} | added
    return sorted((sign for sign in signs if len(sign.strip()) > 1), key=lambda sign: (-len(sign), sign))
