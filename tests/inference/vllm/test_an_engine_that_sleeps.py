"""An engine that gives up the GPU's memory while it has no calls. Here it is a fake one: sleep was never run on a GPU."""

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from apps.reasoning.domain.errors import AliasError, BackendRefused, EngineLost
from apps.reasoning.inference.aliases import Alias, parse_aliases
from workers.engines.vllm_engine import engine_args
from workers.engines.weights.adapters import AdapterShelf
from workers.engines.weights.exchange import WeightExchange
from workers.engines.weights.sleep import Sleeper
from workers.engines.weights.whole import WholeWeights

WEIGHTS = 'weights = "/jobs/live/*"\n'


class Engine:
    """Records what it is asked for. `error` is raised when it is woken."""

    def __init__(self, error: str = "") -> None:
        self.llm: Any = self
        self.asked: list[object] = []
        self.given_up = ""
        self._error = error

    async def sleep(self, *, level: int, mode: str) -> None:
        self.asked.append(("sleep", level, mode))

    async def wake_up(self, tags: list[str] | None = None) -> None:
        if self._error:
            raise RuntimeError(self._error)
        self.asked.append(("wake", *(tags or ())))

    async def collective_rpc(self, method: str) -> None:
        self.asked.append(method)

    @contextlib.contextmanager
    def holding(self) -> Iterator[None]:
        yield

    def give_up(self, reason: str) -> None:
        self.given_up = reason


def _alias(more: str = "", level: int = 1) -> Alias:
    options = f"options.sleep_after_s = 0.02\noptions.sleep_level = {level}\n"
    return parse_aliases(f'[big]\nbackend = "vllm"\nmodel = "/models/big"\n{more}{options}')["big"]


async def _woken(alias: Alias, weights: WeightExchange, engine: Engine) -> Sleeper:
    """The sleeper after one sleep and one call."""
    calls: list[int] = [1]
    sleeper = Sleeper(alias, weights, lambda: not calls)
    watch = asyncio.create_task(sleeper.watch(engine))
    await asyncio.sleep(0.1)
    assert engine.asked == [], "it has a call"
    calls.clear()
    async with asyncio.timeout(10):
        while not engine.asked:
            await asyncio.sleep(0.01)
    assert sleeper.is_asleep
    calls.append(2)
    try:
        await asyncio.gather(sleeper.awake(engine), sleeper.awake(engine))
    finally:
        watch.cancel()
    return sleeper


async def test_an_idle_engine_sleeps_and_the_next_call_wakes_it_once() -> None:
    alias, engine = _alias(), Engine()
    sleeper = await _woken(alias, AdapterShelf(alias), engine)
    assert engine.asked == [("sleep", 1, "wait"), ("wake",)]
    assert not sleeper.is_asleep


@pytest.mark.parametrize(("more", "method"), [("", "reload_weights"), (WEIGHTS, "load_weights_again")])
async def test_an_engine_that_kept_no_weights_loads_those_it_had_before_its_cache_comes_back(more: str, method: str) -> None:
    alias, engine = _alias(more, level=2), Engine()
    await _woken(alias, WholeWeights(alias) if more else AdapterShelf(alias), engine)
    assert engine.asked == [("sleep", 2, "wait"), ("wake", "weights"), method, ("wake", "kv_cache")]


async def test_an_engine_that_does_not_wake_up_is_given_up() -> None:
    alias, engine = _alias(), Engine(error="out of memory")
    with pytest.raises(EngineLost, match="did not wake up"):
        await _woken(alias, AdapterShelf(alias), engine)
    assert "out of memory" in engine.given_up


async def test_an_engine_that_does_not_fall_asleep_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    alias, engine = _alias(), Engine()

    async def fails(**_: object) -> None:
        raise RuntimeError("not enough memory for the copy")

    monkeypatch.setattr(engine, "sleep", fails)
    await asyncio.wait_for(Sleeper(alias, AdapterShelf(alias), lambda: True).watch(engine), 10)
    assert "not enough memory for the copy" in engine.given_up


def test_sleep_is_refused_where_it_cannot_work() -> None:
    with pytest.raises(BackendRefused, match="vLLM's CPU build ignores it"):
        engine_args(_alias(), on_cpu=True)
    assert engine_args(_alias())["enable_sleep_mode"] is True
    tuned = '[tuned]\nadapter_of = "big"\nadapter = "/models/step-4"\n'
    table = '[big]\nbackend = "vllm"\nmodel = "/models/big"\noptions.sleep_after_s = 9\noptions.sleep_level = {}\n'
    with pytest.raises(AliasError, match="crashes engines with adapters"):
        parse_aliases(table.format(2) + tuned)
    assert parse_aliases(table.format(1) + tuned)["big"].adapters
    with pytest.raises(AliasError, match=r"use options\.sleep_after_s instead of enable_sleep_mode"):
        parse_aliases('[big]\nbackend = "vllm"\nmodel = "m"\noptions.engine_args.enable_sleep_mode = true\n')
