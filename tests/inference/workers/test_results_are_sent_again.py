"""A result that cannot be serialised or written blocks neither the thread that publishes results nor its own call."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from apps.processes.streams import results_key
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Health
from apps.reasoning.inference.aliases import parse_aliases
from tests.inference.conftest import a_request
from workers import worker as worker_module
from workers.results import Fields, ResultOutbox
from workers.worker import Worker

ALIASES = parse_aliases('[tested]\nbackend = "scripted"\noptions.script = "none"\n')


@pytest.fixture
def finished() -> list[str]:
    return []


@pytest.fixture
def outbox(valkey: Any, finished: list[str]) -> ResultOutbox:
    return ResultOutbox(valkey, lambda request: finished.append(request.key))


def _results(valkey: Any) -> dict[str, dict[str, str]]:
    return {fields["key"]: fields for _, fields in valkey.xrange(results_key("run"))}


def _raise() -> Fields:
    raise TypeError("no such field")


def test_a_result_that_cannot_be_built_is_an_error_of_its_call(outbox: ResultOutbox, valkey: Any, finished: list[str]) -> None:
    outbox.put(a_request("bad"), "f1", _raise).result(timeout=5)
    outbox.put(a_request("good"), "f2", lambda: {"final": "{}"}).result(timeout=5)
    results = _results(valkey)
    assert results["bad"]["error"] == "EngineLost"
    assert "TypeError: no such field" in results["bad"]["message"]
    assert results["good"]["final"] == "{}"
    assert finished == ["bad", "good"]


def test_a_result_that_cannot_be_written_does_not_block_the_others(outbox: ResultOutbox, valkey: Any) -> None:
    puts = [
        outbox.put(a_request(name), name, lambda text=text: {"final": text})  # type: ignore[misc]
        for name, text in [("one", "{}"), ("half", "\ud835"), ("two", "{}")]
    ]
    for put in puts:
        put.result(timeout=5)
    results = _results(valkey)
    assert results["half"]["error"] == "EngineLost"
    assert (results["one"]["final"], results["two"]["final"]) == ("{}", "{}")


def test_an_error_after_a_result_does_not_block_the_next(valkey: Any) -> None:
    def fail(request: GenerationRequest) -> None:
        raise RuntimeError(request.key)

    outbox = ResultOutbox(valkey, fail)
    for key in ("one", "two"):
        outbox.put(a_request(key), key, lambda: {"final": "{}"}).result(timeout=5)
    assert set(_results(valkey)) == {"one", "two"}


class Half:
    """A backend whose texts end in half a character."""

    async def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        yield Final(text="\ud835" if request.key == "half" else "whole", finish_reason="stop")

    async def abort(self, call_id: str) -> None:
        pass

    async def health(self) -> Health:
        return Health(state="ready")

    async def close(self) -> None:
        pass


@pytest.fixture
def worker(valkey: Any) -> Iterator[Worker]:
    worker = Worker(make_backend=lambda _: Half(), aliases=ALIASES)
    yield worker
    worker.close()


def test_a_call_is_answered_when_its_end_cannot_be_counted(
    worker: Worker, valkey: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("unknown")

    monkeypatch.setattr(worker_module, "count_end", fail)
    outcome = worker._begin(a_request("counted"), "f1")
    outcome.result(timeout=5)
    assert "whole" in _results(valkey)["counted"]["final"]


def test_a_text_that_is_not_unicode_fails_only_its_own_call(worker: Worker, valkey: Any) -> None:
    for key in ("half", "other"):
        worker._begin(a_request(key), key).result(timeout=5)
    results = _results(valkey)
    assert results["half"]["error"] == "EngineLost"
    assert "whole" in results["other"]["final"]
