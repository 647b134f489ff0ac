"""What the answers of model servers mean, in sentences that say what to do."""

import email.utils
import json
import re
import time
from typing import Any

import httpx

from apps.reasoning.domain.errors import BackendError, BackendRefused, BackendUnavailable, EngineLost, RequestRejected
from apps.reasoning.inference.aliases import GIVEN, Alias

#: The server is busy or restarting: the same request may be sent again after a while.
BUSY = frozenset({408, 429, 502, 503, 504, 529})

_TOO_LONG = re.compile(
    r"context_length_exceeded|context (length|window|size)|maximum model length|max_model_len|too many tokens"
    r"|prompt is too long|too long for",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(r"model\b.{0,120}?(not found|does not exist|not exist|unknown|not available)", re.IGNORECASE | re.DOTALL)
_TOOLS = re.compile(r"\btools?\b|tool[_ -](?:choice|use|call)|\bfunction[_ -]?call", re.IGNORECASE)
_PROMPT_TOKENS = re.compile(r"has (?:at least )?(\d+) input tokens|(\d+) in the messages|(\d+) in (?:the|your) prompt")
_LIMIT_TOKENS = re.compile(r"maximum (?:context|model) length (?:is|of) (\d+)")


def said_by(body: bytes | str) -> str:
    """The server's own words from an error answer: JSON in one of the usual shapes, or the beginning of the text."""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    try:
        found: Any = json.loads(text)
    except ValueError:
        plain = re.sub(r"<[^>]+>", " ", text)
        return " ".join(plain.split())[:300]
    return _message(found)[:600]


def _message(found: Any) -> str:
    if isinstance(found, dict):
        for key in ("error", "message", "detail"):
            if found.get(key):
                code = found.get("code")
                return _message(found[key]) + (f" ({code})" if isinstance(code, str) else "")
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def _of(alias: Alias) -> str:
    """The place of its keys in words; empty if a program passed them."""
    return "" if alias.name == GIVEN else f" of {alias.name} in models.toml"


def _called(alias: Alias) -> str:
    return alias.model if alias.name == GIVEN else alias.name


def error_for_status(alias: Alias, status: int, body: bytes | str) -> BackendError:
    """The error for an answer other than 200."""
    said = said_by(body)
    quoted = f' The server says: "{said}"' if said else ""
    if status in (401, 403):
        key = (
            f"Check the key in the environment variable {alias.api_key_env}."
            if alias.api_key_env
            else "It wants a key: name an environment variable in api_key_env."
        )
        return BackendRefused(f"{alias.base_url} refused the key for {_called(alias)} (status {status}). {key}{quoted}")
    if "insufficient_quota" in said:
        return BackendRefused(f"The account at {alias.base_url} has no credit left.{quoted}")
    if status == 404 or (status == 400 and _NO_MODEL.search(said)):
        return BackendRefused(
            f"{alias.base_url} does not know the model {alias.model}, or the address is wrong (status {status}). "
            f"Correct model or base_url{_of(alias)}.{quoted}"
        )
    if 300 <= status < 400:
        return BackendRefused(f"{alias.base_url} redirects (status {status}). Write the final address as base_url.")
    return _rejection(alias, status, said, quoted)


def _rejection(alias: Alias, status: int, said: str, quoted: str) -> BackendError:
    if status in (400, 413, 422) and _TOO_LONG.search(said):
        return RequestRejected(f"The prompt is longer than the context of {_called(alias)}.{quoted}")
    if status == 429:
        return BackendUnavailable(
            f"{alias.base_url} answers too many requests. Lower the concurrency of {_called(alias)}.{quoted}"
        )
    if status in BUSY:
        return BackendUnavailable(f"{alias.base_url} is not ready (status {status}). Resume the run when it is.{quoted}")
    if status >= 500:
        return EngineLost(f"The model server failed on this call (status {status}).{quoted}")
    return RequestRejected(f"The model server rejected the request (status {status}).{quoted}")


def error_in_stream(alias: Alias, said: str) -> BackendError:
    """The error for an error object inside a stream."""
    if _TOO_LONG.search(said):
        return RequestRejected(f'The prompt is longer than the context of {_called(alias)}. The server says: "{said}"')
    return EngineLost(f'The model server failed while it generated: "{said}"')


def error_for_transport(alias: Alias, error: httpx.TransportError) -> BackendError:
    """The error for a connection that could not be made or broke."""
    text = str(error)
    low = text.lower()
    if isinstance(error, httpx.ConnectError):
        if "certificate" in low or "ssl" in low or "tls" in low:
            return BackendRefused(f"The TLS connection to {alias.base_url} failed: {text}. Check address and certificate.")
        if "name or service" in low or "nodename" in low or "getaddrinfo" in low or "name resolution" in low:
            return BackendUnavailable(f"The host of {alias.base_url} is not known. Correct base_url{_of(alias)}.")
        return BackendUnavailable(
            f"Nothing answers at {alias.base_url}. Start the model server or correct base_url{_of(alias)}."
        )
    if isinstance(error, httpx.ConnectTimeout):
        return BackendUnavailable(f"{alias.base_url} does not answer. Check the address and the network.")
    if isinstance(error, httpx.PoolTimeout):
        return BackendUnavailable(
            f"All connections to {alias.base_url} are taken though fewer calls are out: they were not handed back. "
            f"Restart the inference worker of {alias.name}, then resume the run."
        )
    if isinstance(error, httpx.ReadTimeout):
        return EngineLost(f"{alias.base_url} was silent for too long (options.silence_timeout_s).")
    return EngineLost(f"The connection to {alias.base_url} broke ({text or type(error).__name__}).")


def retry_after_s(headers: httpx.Headers) -> float | None:
    """The server's wish in `Retry-After`, in seconds: a number or a date."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def room_left(body: bytes | str) -> int | None:
    """Completion tokens that would fit, where a refusal names the prompt's tokens and the context's (vLLM does)."""
    said = said_by(body)
    prompt, limit = _PROMPT_TOKENS.search(said), _LIMIT_TOKENS.search(said)
    if not prompt or not limit:
        return None
    left = int(limit.group(1)) - int(next(group for group in prompt.groups() if group))
    return left if left > 0 else None


def refuses_tools(status: int, body: bytes | str) -> bool:
    """Is it the functions offered that a server refuses (Ollama for a model without them, vLLM without a parser)?"""
    return status in (400, 404, 422, 500, 501) and _TOOLS.search(said_by(body)) is not None
