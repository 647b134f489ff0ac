"""A restarted orchestrator sends calls again that still wait in the queue: a worker generates each of them once."""

import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Health
from apps.reasoning.inference.aliases import parse_aliases
from apps.runs.streams import cancel_key, results_key
from tests.inference.conftest import a_request
from workers.worker import Worker

ALIASES = parse_aliases('[tested]\nbackend = "scripted"\noptions.script = "none"\n')


class Counting:
    """A backend that answers at once and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        self.asked.append(request.key)
        yield Final(text="done", finish_reason="stop")

    async def abort(self, call_id: str) -> None:
        pass

    async def health(self) -> Health:
        return Health(state="ready")

    async def close(self) -> None:
        pass


class PausedLook:
    """A Redis pipeline. Where it looked for results, its answer is on its way while the test does something else."""

    def __init__(self, pipeline: Any, answered: threading.Event, go_on: threading.Event) -> None:
        self._pipeline, self._answered, self._go_on = pipeline, answered, go_on
        self._looks = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pipeline, name)

    def exists(self, *keys: str) -> None:
        self._looks = True
        self._pipeline.exists(*keys)

    def execute(self) -> Any:
        found = self._pipeline.execute()
        if self._looks:
            self._answered.set()
            assert self._go_on.wait(timeout=10)
        return found


@pytest.fixture
def backend() -> Counting:
    return Counting()


@pytest.fixture
def worker(valkey: Any, backend: Counting) -> Iterator[Worker]:
    worker = Worker(make_backend=lambda _: backend, aliases=ALIASES)
    yield worker
    worker.close()


def _holds_nothing(worker: Worker) -> bool:
    """No call is in the heartbeat or takes a place of its queue."""
    return not worker._active and not any(worker._held.values())


def test_a_second_message_is_dropped_while_the_first_looks_for_a_result(
    worker: Worker, backend: Counting, valkey: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the check of one message and its call, another message's result must not slip in unseen."""
    call = (a_request("twice"), "f1")
    answered, go_on = threading.Event(), threading.Event()
    plain = worker.redis.pipeline
    with monkeypatch.context() as patch:
        patch.setattr(worker.redis, "pipeline", lambda **options: PausedLook(plain(**options), answered, go_on))
        first = threading.Thread(target=worker.answer, args=([call],))
        first.start()
        assert answered.wait(timeout=10)
    worker.answer([call])
    go_on.set()
    first.join(timeout=10)
    assert backend.asked == ["twice"]
    assert [fields["key"] for _, fields in valkey.xrange(results_key("run"))] == ["twice"]


def test_a_message_that_comes_after_the_result_is_dropped(worker: Worker, backend: Counting) -> None:
    for _ in range(2):
        worker.answer([(a_request("once"), "f1")])
    assert backend.asked == ["once"]
    assert _holds_nothing(worker)


def test_calls_of_a_cancelled_run_are_dropped_and_others_go_on(worker: Worker, backend: Counting, valkey: Any) -> None:
    valkey.set(cancel_key("cancelled"), "1")
    worker.answer([(a_request("dropped", run="cancelled"), "f1"), (a_request("kept"), "f2")])
    assert backend.asked == ["kept"]
    assert _holds_nothing(worker)


def test_calls_whose_results_cannot_be_looked_for_are_not_held(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(calls: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(worker, "_are_settled", fail)
    with pytest.raises(RuntimeError, match="fault"):
        worker.answer([(a_request("held"), "f1")])
    assert _holds_nothing(worker)
