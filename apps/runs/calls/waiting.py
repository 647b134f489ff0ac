"""The state of a running call in a dispatcher."""

import asyncio
from dataclasses import dataclass

from apps.reasoning.domain.generation import Final, GenerationRequest


@dataclass
class Waiting:
    """A call without a result. `returns` by stopping workers do not count as `losses`."""

    request: GenerationRequest
    fingerprint: str
    result: "asyncio.Future[Final]"
    sent_at: float = 0.0
    seen_active_at: float | None = None
    missed_at: float | None = None
    served_at: float = 0.0
    losses: int = 0
    returns: int = 0
    is_returned: bool = False

    @property
    def attempt(self) -> int:
        return self.request.attempt + self.losses + self.returns
