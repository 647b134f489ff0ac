"""An adapter is loaded once for all its calls. If one call gives up, loading continues for the others."""

import asyncio
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.inference.aliases import Adapter
from workers.engines.weights.adapters import AdapterShelf


class Engine:
    """Counts requests to load, waits for permission, and fails the first `fails` times."""

    def __init__(self) -> None:
        self.may_load = asyncio.Event()
        self.asked = 0
        self.fails = 0

    async def add_lora(self, lora: Any) -> None:
        self.asked += 1
        await self.may_load.wait()
        if self.fails:
            self.fails -= 1
            raise RuntimeError("rank 64 is too large")


@pytest.fixture(autouse=True)
def _without_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("vllm", "vllm.lora", "vllm.lora.request"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    request = sys.modules["vllm.lora.request"]
    monkeypatch.setattr(request, "LoRARequest", lambda *args: SimpleNamespace(args=args), raising=False)


@pytest.fixture
def adapter(tmp_path: Path) -> Adapter:
    (tmp_path / "adapter_config.json").write_text("{}")
    return Adapter(name="small", path=str(tmp_path), revision="1")


def _shelf(adapter: Adapter) -> AdapterShelf:
    return AdapterShelf(SimpleNamespace(name="big", adapters=[adapter]))  # type: ignore[arg-type]


async def test_two_simultaneous_calls_load_it_once(adapter: Adapter) -> None:
    shelf, engine = _shelf(adapter), Engine()
    asked = [asyncio.ensure_future(shelf.load(engine, adapter)) for _ in range(2)]
    await asyncio.sleep(0.1)
    engine.may_load.set()
    one, two = await asyncio.gather(*asked)
    assert one is two
    assert engine.asked == 1


async def test_a_timed_out_call_does_not_stop_the_loading(adapter: Adapter) -> None:
    shelf, engine = _shelf(adapter), Engine()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await shelf.load(engine, adapter)
    engine.may_load.set()
    assert await shelf.load(engine, adapter)
    assert engine.asked == 1


async def test_the_next_call_retries_a_failed_load(adapter: Adapter) -> None:
    shelf, engine = _shelf(adapter), Engine()
    engine.may_load.set()
    engine.fails = 1
    with pytest.raises(RequestRejected, match="rank 64"):
        await shelf.load(engine, adapter)
    assert await shelf.load(engine, adapter)
