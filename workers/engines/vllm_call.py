"""One running call of the vLLM backend."""

import asyncio
import time

from apps.reasoning.domain.errors import DeadlineExceeded
from apps.reasoning.domain.generation import GenerationRequest


class Call:
    """A call with its deadline, its name in the engine, and whether it was stopped."""

    def __init__(self, request: GenerationRequest, number: int) -> None:
        self.request = request
        self.number = number
        self.engine_id = ""
        self.began = time.monotonic()
        self.stopped = asyncio.Event()

    @property
    def left_s(self) -> float:
        """Seconds until its deadline."""
        return max(0.0, self.began + self.request.deadline_s - time.monotonic())

    def deadline_error(self) -> DeadlineExceeded:
        """Why it ends at its deadline."""
        return DeadlineExceeded(f"The call took longer than {self.request.deadline_s:g} s and was stopped.")
