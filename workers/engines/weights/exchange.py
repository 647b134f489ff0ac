"""The port between the vLLM backend and the weights that its calls are drawn with."""

import asyncio
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from apps.reasoning.domain.generation import GenerationRequest


class Drawn(NamedTuple):
    """What the next tokens of a call are drawn with: `policy` names it in records, `lora` is vLLM's request for an adapter."""

    policy: str
    lora: Any = None


class ExchangingEngine(Protocol):
    """What an exchange needs of a running engine."""

    llm: Any

    def holding(self) -> AbstractContextManager[None]:
        """While calls are held on purpose, an engine without steps is not stalled."""
        ...

    def give_up(self, reason: str) -> None:
        """End an engine whose weights are in an unknown state; its calls are lost with this reason."""
        ...


class WeightExchange(Protocol):
    """The weights of an engine and their exchange. Implementations are used from the engine's loop."""

    async def ready(self, engine: ExchangingEngine, request: GenerationRequest) -> Drawn:
        """Give the engine the newest weights for a call. Raises `RequestRejected` where it cannot have them at all."""
        ...

    async def restore(self, engine: ExchangingEngine) -> None:
        """Load the weights that the engine has again, after it has given up their memory."""
        ...

    @property
    def trouble(self) -> str:
        """Why the engine keeps older weights than the newest; empty if it does not."""
        ...


def settled(task: "asyncio.Task[Any] | None") -> bool:
    """Whether there is nothing to wait for: no task, or one that failed or was cancelled."""
    return task is None or (task.done() and (task.cancelled() or task.exception() is not None))
