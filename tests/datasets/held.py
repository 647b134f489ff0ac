"""Runs held before a call, so that a test can inspect live runs."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from fnmatch import fnmatchcase

from apps.reasoning.domain.generation import Delta, Final, GenerationRequest
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.runs.models import Run
from tests.datasets.factory import Answer
from tests.runs.driving import drive, with_model

PATIENCE_S = 120


class Held(ScriptedBackend):
    """Answers with `answer`; calls matching `key` wait for `let_go` and then raise `error`, if set."""

    def __init__(self, answer: Answer, key: str) -> None:
        super().__init__(answer)
        self.key, self.reached, self.let_go = key, threading.Event(), threading.Event()
        self.error: Exception | None = None

    async def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        if fnmatchcase(request.key, self.key):
            self.reached.set()
            while not self.let_go.is_set():
                await asyncio.sleep(0.01)
            if self.error:
                raise self.error
        async with aclosing(super().generate(request)) as items:  # type: ignore[type-var]
            async for item in items:
                yield item


@contextmanager
def held(run: Run, answer: Answer, key: str) -> Iterator[Held]:
    """Hold the run before the call `key` during the body; then drive it to its end."""
    model = Held(answer, key)
    thread = threading.Thread(target=drive, args=(run, with_model(model)))
    thread.start()
    try:
        assert model.reached.wait(PATIENCE_S)
        yield model
    finally:
        model.let_go.set()
        thread.join(PATIENCE_S)
    assert not thread.is_alive()
    run.refresh_from_db()
