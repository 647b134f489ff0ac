"""The model server at a caller's address: does it answer, does it serve the model, how long is its context?"""

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx

from apps.reasoning.domain.errors import BackendError, BackendRefused
from apps.reasoning.domain.generation import Final, GenerationRequest
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.inference.http_errors import error_for_status, error_for_transport
from apps.reasoning.ports import Dispatcher

_PATIENCE_S = 10.0
_NAMES_SHOWN = 20
#: Servers that do not list their models: 404, 405, 501.
_NO_LIST = frozenset({404, 405, 501})


async def served_context(alias: Alias, api_key: str) -> int | None:
    """Tokens of the model's context as the server lists it; None where it does not say.

    Raises `BackendError` where nothing answers, the key is refused, or the server lists models and this one is not among them.
    """
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    try:
        async with httpx.AsyncClient(headers=headers, timeout=_PATIENCE_S) as client:
            response = await client.get(f"{alias.base_url}/models")
    except httpx.TransportError as error:
        raise error_for_transport(alias, error) from error
    if response.status_code in _NO_LIST:
        return None
    if response.status_code in (401, 403):
        wants = "Check api_key, or the variable that api_key_env names." if api_key else "Give api_key_env or api_key."
        raise BackendRefused(f"{alias.base_url} refused the key (status {response.status_code}). {wants}")
    if response.status_code != 200:
        raise error_for_status(alias, response.status_code, response.content)
    listed = _listed(response)
    if listed and _plain(alias.model) not in listed:
        names = ", ".join(list(listed)[:_NAMES_SHOWN]) + (", …" if len(listed) > _NAMES_SHOWN else "")
        raise BackendRefused(f"{alias.base_url} does not serve the model {alias.model}; it serves {names}.")
    return _context(listed.get(_plain(alias.model), {}))


def _listed(response: httpx.Response) -> dict[str, Mapping[str, Any]]:
    """The models by name; none where the answer has another shape."""
    try:
        return {_plain(str(model["id"])): model for model in response.json()["data"]}
    except (ValueError, KeyError, TypeError):
        return {}


def _plain(name: str) -> str:
    """Some servers list a model under a longer name than the one that they are asked with."""
    return name.removeprefix("models/").removesuffix(":latest")


def _context(model: Mapping[str, Any]) -> int | None:
    """vLLM and SGLang say `max_model_len`, llama-server `meta.n_ctx`, hosted services one of the others."""
    meta = model.get("meta")
    known = [model.get(name) for name in ("max_model_len", "context_length", "context_window")]
    known.append(meta.get("n_ctx") if isinstance(meta, Mapping) else None)
    return next((value for value in known if isinstance(value, int) and value >= 16), None)


class CheckingDispatcher:
    """Asks the server for its models before the first call, unless that was done; keeps the key out of every message."""

    def __init__(self, inner: Dispatcher, alias: Alias, api_key: str, is_checked: bool) -> None:
        self._inner = inner
        self._alias = alias
        self._api_key = api_key
        self._is_checked = is_checked
        self._lock = asyncio.Lock()

    async def dispatch(self, request: GenerationRequest) -> Final:
        """As `Dispatcher.dispatch`."""
        try:
            if request.job == "generate":
                await self._check()
            return await self._inner.dispatch(request)
        except BackendError as error:
            raise without_key(error, self._api_key) from None

    async def _check(self) -> None:
        async with self._lock:
            if not self._is_checked:
                await served_context(self._alias, self._api_key)
                self._is_checked = True


def without_key(error: BackendError, api_key: str) -> BackendError:
    """The error, whose words show no key even where the server's did."""
    if not api_key or api_key not in str(error):
        return error
    hidden = type(error)(str(error).replace(api_key, "[key]"))
    hidden.retryable, hidden.attempt = error.retryable, error.attempt
    return hidden
