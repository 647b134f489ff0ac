"""Whether a model server answers, asked at most twice a minute however often the page is looked at."""

import asyncio
import time
from typing import Any

import httpx

from apps.reasoning.domain.generation import Health
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.inference.http_errors import error_for_status, error_for_transport

_FRESH_S = 30.0
_FRESH_WHEN_DOWN_S = 5.0
_PATIENCE_S = 1.0


class HealthProbe:
    """Asks `GET /models`. The backend adds the counts of running calls."""

    def __init__(self, alias: Alias, client: httpx.AsyncClient) -> None:
        self._alias = alias
        self._client = client
        self._last = Health(state="loading", detail="The server is being asked.")
        self._asked_at: float | None = None
        self._asking: asyncio.Task[None] | None = None

    async def health(self) -> Health:
        """The newest answer; a new question is waited for a second at most."""
        if self._asking is None and self._is_stale():
            self._asking = asyncio.create_task(self._ask())
        if self._asking is not None:
            await asyncio.wait([self._asking], timeout=_PATIENCE_S)
            if self._asking.done():
                self._asking = None
        return self._last

    async def close(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait([self._asking])

    def _is_stale(self) -> bool:
        if self._asked_at is None:
            return True
        fresh = _FRESH_S if self._last.state == "ready" else _FRESH_WHEN_DOWN_S
        return time.monotonic() - self._asked_at > fresh

    async def _ask(self) -> None:
        try:
            response = await self._client.get(f"{self._alias.base_url}/models", timeout=5.0)
            self._last = self._read(response)
        except httpx.TransportError as error:
            self._last = Health(state="down", detail=str(error_for_transport(self._alias, error)))
        self._asked_at = time.monotonic()

    def _read(self, response: httpx.Response) -> Health:
        alias = self._alias
        if response.status_code == 200:
            known = _names(response)
            if known and alias.model not in known:
                have = ", ".join(known[:5])
                return Health(state="down", detail=f"{alias.base_url} does not know the model {alias.model}; it has {have}.")
            return Health(state="ready", detail=f"{alias.model} at {alias.base_url}.")
        if response.status_code in (404, 405, 501):  # Not every server lists its models.
            return Health(state="ready", detail=f"{alias.base_url} answers.")
        return Health(state="down", detail=str(error_for_status(alias, response.status_code, response.content)))


def _names(response: httpx.Response) -> list[str]:
    """The ids of the models, or none where the answer has another shape."""
    try:
        listed: Any = response.json()["data"]
        return [str(model["id"]) for model in listed]
    except (ValueError, KeyError, TypeError):
        return []
