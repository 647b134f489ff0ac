"""Logged requests and answers of model APIs: Gemini, OpenAI chat and responses, and compatible ones."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from apps.explorations.importing.imported_run import moment
from apps.reasoning.domain.generation import Usage

_UNKNOWN = "unknown model"


@dataclass(frozen=True)
class Request:
    """The messages in order, and the model's name if known."""

    messages: tuple[str, ...] = ()
    model: str = ""


@dataclass(frozen=True)
class Answer:
    """Data of an answer except its text: model, time of the request, tokens and ending."""

    model: str = ""
    asked_at: datetime | None = None
    usage: Usage = field(default_factory=Usage)
    cut_off: bool = False


def request_of(value: Any) -> Request:
    """The request in a decoded JSON value; empty if its form is unknown."""
    if not isinstance(value, dict):
        return Request()
    model = str(value.get("model") or value.get("modelVersion") or "")
    if isinstance(value.get("input"), str):
        return Request((value["input"],), model)
    messages = [value.get("systemInstruction"), *_list(value.get("contents"))] if "contents" in value else None
    messages = messages or _list(value.get("messages")) or _list(value.get("input"))
    texts = ("\n\n".join(_texts(message)) for message in messages if message)
    return Request(tuple(text for text in texts if text.strip('" \n')), model)


def answer_of(value: Any) -> Answer:
    """The data of an answer; zeros and empty texts if missing."""
    if not isinstance(value, dict):
        return Answer()
    usage = value.get("usage")
    choices = [choice for choice in _list(value.get("choices")) if isinstance(choice, dict)]
    cut_off = any(choice.get("finish_reason") == "length" for choice in choices) or value.get("status") == "incomplete"
    asked = moment(value["created"] if "created" in value else value.get("created_at"))
    return Answer(str(value.get("model") or ""), asked, _usage(usage if isinstance(usage, dict) else {}), cut_off)


def model_word(name: str) -> str:
    """The model's name as an alias, or "unknown model"."""
    return name[:80] or _UNKNOWN


def _usage(found: dict[str, Any]) -> Usage:
    """Token counts of the log. Some APIs count thinking separately from the completion; the total includes both."""
    prompt = _number(found.get("prompt_tokens", found.get("input_tokens")))
    completion = _number(found.get("completion_tokens", found.get("output_tokens")))
    completion = max(completion, _number(found.get("total_tokens")) - prompt)
    details = [part for name, part in found.items() if name.endswith("_details") and isinstance(part, dict)]
    reasoning = sum(_number(part.get("reasoning_tokens")) for part in details)
    cached = sum(_number(part.get("cached_tokens")) for part in details)
    return Usage(prompt=prompt, cached=min(cached, prompt), completion=completion, reasoning=min(reasoning, completion))


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12 else 0


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(value: Any) -> Iterator[str]:
    """All texts inside a message of any API."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, dict):
        for name in ("text", "parts", "content"):
            if name in value:
                yield from _texts(value[name])
