"""The inference worker of benchmarks: workers/worker.py unchanged, with backends that need no model.

celery -A benchmarks.engines.answering worker -P threads -c 64 -Q inference.at-once,inference.ticker,inference.agent
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from typing import Any

from celery.signals import worker_init

from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Health, Usage
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.inference.scripted import Pace, ScriptedBackend
from apps.reasoning.ports import Backend
from benchmarks.contest.contest_engine import ContestEngine
from benchmarks.grading import ANSWER as GRADING
from benchmarks.scaffold_texts import reply as scaffold_reply
from benchmarks.texts import text_of
from workers import worker
from workers.worker import app

AGENT_TOKENS_PER_S = 60.0
TICK_S = 0.05
SHORT_S = 0.1
#: An answer of about 1,000 tokens, up to its last number.
ROLLOUT = f"{text_of(560)}\n\nThe answer is $"


class Ticker:
    """A backend whose tokens are the times at which they are yielded: `t<milliseconds since 1970>`."""

    async def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        """See `Backend.generate`; `max_new_tokens` tokens, one every `TICK_S`."""
        began, pieces = time.monotonic(), []
        for number in range(request.sampling.max_new_tokens):
            await asyncio.sleep(max(0.0, began + number * TICK_S - time.monotonic()))
            pieces.append(f"t{time.time_ns() // 1_000_000} ")
            yield Delta(text=pieces[-1], tokens=1)
        yield Final(text="".join(pieces), finish_reason="length", usage=Usage(completion=len(pieces)))

    async def abort(self, call_id: str) -> None:
        """Do nothing: the call is short."""

    async def health(self) -> Health:
        return Health(state="ready")

    async def close(self) -> None:
        """Do nothing."""


def backend(alias: Alias) -> Backend:
    """The backend of an alias of benchmarks/models.toml."""
    if alias.name == "ticker":
        return Ticker()
    if alias.name == "contest":
        return ContestEngine.from_environment()
    if alias.name == "short":
        return ContestEngine(SHORT_S)
    at_once = Pace(chunk_tokens=0, latency_s=float(os.environ.get("GRADER_LATENCY_S", "0")))
    if alias.name == "grader":
        return ScriptedBackend(lambda _: GRADING, pace=at_once)
    if alias.name == "scaffolds":
        return ScriptedBackend(lambda request: scaffold_reply(request.key, request.role), pace=at_once)
    if alias.name == "agent":
        pace = Pace(tokens_per_s=AGENT_TOKENS_PER_S, chunk_tokens=1)
        return ScriptedBackend(lambda request: text_of(request.sampling.max_new_tokens), pace=pace)
    if alias.name.startswith("rollouts"):
        answer_s = float(os.environ["ROLLOUT_ANSWER_S"]) if alias.name == "rollouts" else SHORT_S
        pace = Pace(chunk_tokens=0, latency_s=answer_s, latency_sigma=0.0)
        return ScriptedBackend(lambda request: f"{ROLLOUT}\\boxed{{{7 + (request.seed or 0) % 2}}}$.", pace=pace)
    text = text_of(560)
    return ScriptedBackend(lambda request: f"{request.key} {text}", pace=Pace(chunk_tokens=0))


def _start(**_: Any) -> None:
    worker.serve(worker.Worker(make_backend=backend))


worker_init.disconnect(worker.start)
worker_init.connect(_start)

__all__ = ["app"]
