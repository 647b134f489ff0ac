"""Statistics that vLLM reports after each step, for the health of the backend."""

import time
from typing import Any


class EngineStats:
    """A stat logger of vLLM. Its interface may change with vLLM, so missing values are ignored."""

    def __init__(self) -> None:
        self.waiting = 0
        self.cache_used = 0.0
        self.generated = 0
        self.stepped_at = time.monotonic()
        self._asked = 0
        self._found = 0

    @property
    def cached_share(self) -> float | None:
        """Share of prompt tokens found in the prefix cache; None before the first prompt."""
        return self._found / self._asked if self._asked else None

    def record(self, scheduler_stats: Any = None, iteration_stats: Any = None, **_: Any) -> None:
        """Update the figures; vLLM calls this in the loop after every step of the engine."""
        self.stepped_at = time.monotonic()
        if scheduler_stats is not None:
            self.waiting = getattr(scheduler_stats, "num_waiting_reqs", 0)
            self.cache_used = getattr(scheduler_stats, "kv_cache_usage", 0.0)
            prefixes = getattr(scheduler_stats, "prefix_cache_stats", None)
            if prefixes is not None:
                self._asked += prefixes.queries
                self._found += prefixes.hits
        if iteration_stats is not None:
            self.generated += getattr(iteration_stats, "num_generation_tokens", 0)

    def log(self) -> None:
        """Log nothing: the worker has its own lines."""

    def log_engine_initialized(self) -> None:
        """Log nothing."""

    def record_sleep_state(self, *_: Any, **__: Any) -> None:
        """Ignore: who sends it to sleep knows."""

    def record_admission_rejection(self, *_: Any, **__: Any) -> None:
        """Ignore: refused calls raise."""
