"""All copies of the rivals' model have tokens due at the same moments, whenever the chats began, like one shared text."""

import asyncio
import importlib.util
import itertools
from pathlib import Path
from types import ModuleType

import pytest

import benchmarks.rivals


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setenv("RIVAL_TOKENS", "3")
    monkeypatch.setenv("RIVAL_TOKENS_PER_S", "50")
    path = Path(benchmarks.rivals.__file__).with_name("apps") / "fake_model.py"
    spec = importlib.util.spec_from_file_location("fake_model", path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


async def test_chats_that_begin_at_different_moments_have_tokens_due_together(model: ModuleType) -> None:
    async def played(after_s: float) -> list[int]:
        await asyncio.sleep(after_s)
        return [int(token.strip()[1:]) async for token in model.tokens()]

    beat = 20_000_000
    for due in await asyncio.gather(played(0), played(0.007), played(0.011)):
        assert [at % beat for at in due] == [0, 0, 0]
        assert [later - earlier for earlier, later in itertools.pairwise(due)] == [beat, beat]
