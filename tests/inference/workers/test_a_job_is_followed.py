"""An adapter whose folder ends in `/*` follows a training job: calls use its newest version, or the model before the first."""

import asyncio
import gc
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.inference.aliases import Adapter
from tests.inference.conftest import a_request
from workers.engines.weights.adapters import KEPT, AdapterShelf


class Engine:
    """Records the adapters that it was asked to load."""

    def __init__(self) -> None:
        self.loaded: list[Any] = []

    async def add_lora(self, lora: Any) -> None:
        self.loaded.append(lora)


@pytest.fixture(autouse=True)
def _without_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("vllm", "vllm.lora", "vllm.lora.request"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    made = lambda name, number, path: SimpleNamespace(name=name, number=number, path=path)  # noqa: E731
    monkeypatch.setattr(sys.modules["vllm.lora.request"], "LoRARequest", made, raising=False)


@pytest.fixture
def live(tmp_path: Path) -> Path:
    """The path that an alias follows: a link to the folder of the current job."""
    (tmp_path / "first" / "policy").mkdir(parents=True)
    (tmp_path / "live").symlink_to(tmp_path / "first" / "policy")
    return tmp_path / "live"


def _shelf(live: Path) -> AdapterShelf:
    adapter = Adapter(name="learner", path=f"{live}/*")
    return AdapterShelf(SimpleNamespace(name="big", adapters=[adapter]))  # type: ignore[arg-type]


def _version(folder: Path, number: int) -> None:
    (folder / str(number)).mkdir()
    (folder / str(number) / "adapter_config.json").write_text(str(number))


def _requested(shelf: AdapterShelf) -> Adapter | None:
    return shelf.requested(a_request(alias="learner"))


def test_before_the_first_version_the_model_answers(live: Path) -> None:
    assert _requested(_shelf(live)) is None
    (live / ".3").mkdir()  # Still being written.
    assert _requested(_shelf(live)) is None


async def test_each_call_gets_the_newest_version_with_a_new_number(live: Path) -> None:
    shelf, engine = _shelf(live), Engine()
    for number in (1, 2, 10):
        _version(live, number)
        adapter = _requested(shelf)
        assert adapter is not None
        assert adapter.revision == f"policy/{number}"
        await shelf.load(engine, adapter)
    assert [one.number for one in engine.loaded] == [1, 2, 3]
    assert [Path(one.path, "adapter_config.json").read_text() for one in engine.loaded] == ["1", "2", "10"]


async def test_a_loaded_version_stays_readable_when_the_job_removes_it(live: Path) -> None:
    shelf, engine = _shelf(live), Engine()
    _version(live, 1)
    adapter = _requested(shelf)
    assert adapter is not None
    lora = await shelf.load(engine, adapter)
    shutil.rmtree(live / "1")
    assert Path(lora.path, "adapter_config.json").read_text() == "1"
    for number in range(2, KEPT + 3):
        _version(live, number)
        newer = _requested(shelf)
        assert newer is not None
        await shelf.load(engine, newer)
    assert not Path(lora.path).exists(), "after this many versions no call needs it any more"


async def test_a_version_that_a_resumed_job_writes_again_is_a_new_one(live: Path) -> None:
    shelf, engine = _shelf(live), Engine()
    _version(live, 1)
    first = _requested(shelf)
    assert first is not None
    await shelf.load(engine, first)
    shutil.rmtree(live / "1")
    _version(live, 1)
    (live / "1" / "adapter_config.json").write_text("again")
    second = _requested(shelf)
    assert second is not None
    assert second.revision == first.revision == "policy/1"
    assert Path((await shelf.load(engine, second)).path, "adapter_config.json").read_text() == "again"


async def test_another_job_at_the_same_path_starts_from_the_beginning(live: Path, tmp_path: Path) -> None:
    shelf, engine = _shelf(live), Engine()
    _version(live, 1)
    first = _requested(shelf)
    (tmp_path / "second" / "policy").mkdir(parents=True)
    live.unlink()
    live.symlink_to(tmp_path / "second" / "policy")
    assert _requested(shelf) is None
    _version(live, 1)
    second = _requested(shelf)
    assert first is not None
    assert second is not None
    await asyncio.gather(shelf.load(engine, first), shelf.load(engine, second))
    assert len(engine.loaded) == 2


async def test_full_weights_cannot_be_followed(live: Path) -> None:
    shelf = _shelf(live)
    (live / "1").mkdir()
    adapter = _requested(shelf)
    assert adapter is not None
    with pytest.raises(RequestRejected, match="adapters, not its full weights"):
        await shelf.load(Engine(), adapter)


def test_the_next_start_removes_copies_of_killed_workers_and_keeps_those_in_use(
    live: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    program = "import os; from workers.engines.weights import adapters as a; print(a._new_folder()[0], flush=True); os._exit(9)"
    killed = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"TMPDIR": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    left = Path(killed.stdout.strip())
    assert left.is_dir()
    shelf = _shelf(live)
    assert not left.exists()
    other = _shelf(live)
    assert len(list(tmp_path.glob("lemmascope-adapters-*"))) == 2, "both are in use"
    del shelf, other
    gc.collect()
    assert not list(tmp_path.glob("lemmascope-adapters-*"))
