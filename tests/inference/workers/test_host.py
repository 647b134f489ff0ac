"""The host of an inference process: many task threads, one loop, deadlines, aborts, shared calls, health and stopping."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from apps.reasoning.domain.errors import BackendRefused, DeadlineExceeded, EngineLost
from apps.reasoning.domain.generation import Final, GenerationRequest
from apps.reasoning.inference.aliases import Alias, parse_aliases
from apps.reasoning.inference.scripted import Faults, Pace, ScriptedBackend
from apps.reasoning.ports import Backend
from tests.inference.conftest import a_request
from workers.host import EngineHost
from workers.running import HostOptions

TOML = """
[tested]
backend = "scripted"
concurrency = 4
options.script = "none"
[off]
backend = "scripted"
enabled = false
options.script = "none"
"""
MakeHost = Callable[..., EngineHost]


@pytest.fixture
def make_host() -> Iterator[MakeHost]:
    hosts: list[EngineHost] = []

    def make(backend: Backend | Callable[[Alias], Backend]) -> EngineHost:
        factory = backend if callable(backend) else lambda _: backend
        host = EngineHost(parse_aliases(TOML), make_backend=factory, options=HostOptions(abort_patience_s=0.3))
        hosts.append(host)
        return host

    yield make
    for host in hosts:
        host.close()


def _paced(words: int = 200, speed: float = 200.0) -> ScriptedBackend:
    return ScriptedBackend(lambda _: "word " * words, pace=Pace(tokens_per_s=speed))


def _in_thread(host: EngineHost, request: GenerationRequest) -> "tuple[threading.Thread, list[Final | BaseException]]":
    ended: list[Final | BaseException] = []

    def work() -> None:
        try:
            ended.append(host.run(request))
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    return thread, ended


def _until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < end, "the condition did not become true"
        time.sleep(0.005)


def test_calls_of_many_threads_all_return(make_host: MakeHost) -> None:
    host = make_host(ScriptedBackend(lambda request: request.key.upper()))
    with ThreadPoolExecutor(32) as pool:
        finals = list(pool.map(lambda number: host.run(a_request(f"call/{number}")), range(200)))
    assert [final.text for final in finals] == [f"CALL/{number}" for number in range(200)]
    assert host.active() == []


def test_an_unknown_and_a_disabled_alias_are_refused(make_host: MakeHost) -> None:
    host = make_host(_paced())
    for alias in ("unknown", "off"):
        with pytest.raises(BackendRefused, match=f"no alias {alias}; it serves tested"):
            host.run(a_request(alias=alias))
    assert list(host.health()) == ["tested"]


def test_a_backend_that_cannot_be_made_is_reported_by_calls_and_health(make_host: MakeHost) -> None:
    def broken(_: Alias) -> Backend:
        raise BackendRefused("Set the key.")

    host = make_host(broken)
    with pytest.raises(BackendRefused, match="Set the key"):
        host.run(a_request())
    assert host.health()["tested"].state == "down"
    assert host.health()["tested"].detail == "Set the key."


def test_no_more_calls_run_than_the_alias_allows(make_host: MakeHost) -> None:
    host = make_host(_paced())
    threads = [_in_thread(host, a_request(f"call/{number}")) for number in range(6)]
    _until(lambda: host.health()["tested"].waiting == 2)
    assert host.health()["tested"].running == 4
    assert len(host.active()) == 6
    assert host.cancel_run("run") == 6
    for thread, ended in threads:
        thread.join(5)
        assert isinstance(ended[0], Final)
        assert ended[0].finish_reason == "cancelled"


def test_an_abort_returns_the_text_so_far_within_a_second(make_host: MakeHost) -> None:
    host = make_host(_paced())
    request = a_request()
    thread, ended = _in_thread(host, request)
    _until(lambda: host.health()["tested"].tokens_per_s > 0)
    began = time.monotonic()
    assert host.abort(request.call_id)
    thread.join(5)
    assert time.monotonic() - began < 1.0
    assert isinstance(ended[0], Final)
    assert ended[0].finish_reason == "cancelled"
    assert ended[0].text.startswith("word")
    assert not host.abort(request.call_id)
    assert host.health()["tested"].running == 0


def test_a_call_ends_even_if_the_backend_ignores_its_abort(make_host: MakeHost) -> None:
    class Deaf(ScriptedBackend):
        async def abort(self, call_id: str) -> None:
            return

    host = make_host(Deaf(["text"], faults=Faults(hang=frozenset({1}))))
    thread, ended = _in_thread(host, a_request())
    _until(host.active)
    host.cancel_run("run")
    thread.join(2)
    assert isinstance(ended[0], Final)
    assert ended[0].finish_reason == "cancelled"


def test_a_call_ends_even_if_the_backend_hangs_on_its_abort(make_host: MakeHost) -> None:
    class Stuck(ScriptedBackend):
        async def abort(self, call_id: str) -> None:
            await asyncio.Event().wait()

    host = make_host(Stuck(["text"], faults=Faults(hang=frozenset({1}))))
    thread, ended = _in_thread(host, a_request())
    _until(host.active)
    host.cancel_run("run")
    thread.join(3)
    assert isinstance(ended[0], Final)
    assert ended[0].finish_reason == "cancelled"


def test_cancelling_one_run_does_not_affect_others(make_host: MakeHost) -> None:
    host = make_host(_paced(words=40))
    first, first_ended = _in_thread(host, a_request(run="first"))
    second, second_ended = _in_thread(host, a_request(run="second"))
    _until(lambda: len(host.active()) == 2)
    assert host.cancel_run("first") == 1
    first.join(5)
    second.join(5)
    assert isinstance(first_ended[0], Final)
    assert isinstance(second_ended[0], Final)
    assert (first_ended[0].finish_reason, second_ended[0].finish_reason) == ("cancelled", "stop")


def test_a_deadline_ends_the_call(make_host: MakeHost) -> None:
    host = make_host(ScriptedBackend(["text"], faults=Faults(hang=frozenset({1}))))
    with pytest.raises(DeadlineExceeded):
        host.run(a_request(deadline_s=0.1))
    assert host.active() == []


def test_a_call_sent_several_times_runs_once(make_host: MakeHost) -> None:
    backend = _paced(words=20)
    host = make_host(backend)
    threads = [_in_thread(host, a_request()) for _ in range(3)]
    for thread, _ in threads:
        thread.join(5)
    assert {id(ended[0]) for _, ended in threads} == {id(threads[0][1][0])}
    assert isinstance(threads[0][1][0], Final)


def test_draining_lets_short_calls_end_and_returns_long_ones(make_host: MakeHost) -> None:
    host = make_host(ScriptedBackend(lambda request: "word " * int(request.key), pace=Pace(tokens_per_s=200)))
    short, short_ended = _in_thread(host, a_request("20"))
    long, long_ended = _in_thread(host, a_request("2000", max_new_tokens=2000))
    _until(lambda: len(host.active()) == 2)
    assert host.drain(0.5) == 1
    short.join(5)
    long.join(5)
    assert isinstance(short_ended[0], Final)
    assert isinstance(long_ended[0], EngineLost)
    assert long_ended[0].retryable
    with pytest.raises(EngineLost, match="stopping"):
        host.run(a_request("late"))
