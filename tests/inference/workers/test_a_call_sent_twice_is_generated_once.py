"""A restarted orchestrator resends calls that are still queued; a worker generates each of them once."""

import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from apps.processes.streams import cancel_key, results_key
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Health
from apps.reasoning.inference.aliases import parse_aliases
from tests.inference.conftest import a_request
from workers.worker import Worker

ALIASES = parse_aliases('[tested]\nbackend = "scripted"\noptions.script = "none"\n')


class Counting:
    """A backend that answers at once and records the keys of its calls."""

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


class PausedPipeline:
    """A Redis pipeline that pauses after a check for results, before it returns the answer."""

    def __init__(self, pipeline: Any, answered: threading.Event, resume: threading.Event) -> None:
        self._pipeline, self._answered, self._resume = pipeline, answered, resume
        self._checks = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pipeline, name)

    def exists(self, *keys: str) -> None:
        self._checks = True
        self._pipeline.exists(*keys)

    def execute(self) -> Any:
        found = self._pipeline.execute()
        if self._checks:
            self._answered.set()
            assert self._resume.wait(timeout=10)
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
    """Whether no call is in the heartbeat or takes a place of its queue."""
    return not worker._active and not any(worker._held.values())


def test_a_second_message_is_dropped_while_the_first_checks_for_a_result(
    worker: Worker, backend: Counting, valkey: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result of another message between a message's check and its call must not be missed."""
    call = (a_request("twice"), "f1")
    answered, resume = threading.Event(), threading.Event()
    plain = worker.redis.pipeline
    with monkeypatch.context() as patch:
        patch.setattr(worker.redis, "pipeline", lambda **options: PausedPipeline(plain(**options), answered, resume))
        first = threading.Thread(target=worker.answer, args=([call],))
        first.start()
        assert answered.wait(timeout=10)
    worker.answer([call])
    resume.set()
    first.join(timeout=10)
    assert backend.asked == ["twice"]
    assert [fields["key"] for _, fields in valkey.xrange(results_key("run"))] == ["twice"]


def test_a_message_after_the_result_is_dropped(worker: Worker, backend: Counting) -> None:
    for _ in range(2):
        worker.answer([(a_request("once"), "f1")])
    assert backend.asked == ["once"]
    assert _holds_nothing(worker)


def test_calls_of_a_cancelled_run_are_dropped_and_others_continue(worker: Worker, backend: Counting, valkey: Any) -> None:
    valkey.set(cancel_key("cancelled"), "1")
    worker.answer([(a_request("dropped", run="cancelled"), "f1"), (a_request("kept"), "f2")])
    assert backend.asked == ["kept"]
    assert _holds_nothing(worker)


def test_calls_whose_check_for_results_fails_are_not_held(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(calls: object) -> None:
        raise RuntimeError("our own fault")

    monkeypatch.setattr(worker, "_are_settled", fail)
    with pytest.raises(RuntimeError, match="fault"):
        worker.answer([(a_request("held"), "f1")])
    assert _holds_nothing(worker)
