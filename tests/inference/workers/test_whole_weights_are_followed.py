"""An engine that follows the whole weights of a job, with a fake engine; test_vllm_follows_whole_weights.py has a real one."""

import asyncio
import contextlib
import json
import shutil
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from apps.datasets.tokens.shards import policy_version_of
from apps.reasoning.domain.errors import EngineLost, RequestRejected
from apps.reasoning.inference.aliases import parse_aliases
from tests.inference.conftest import a_request
from workers.engines.weights.files import WrongWeightsError, check_weights, own_folder
from workers.engines.weights.whole import WholeWeights

SHAPES = {"model.embed_tokens.weight": [6, 4], "model.norm.weight": [4]}
EXCHANGE = ["pause", "start", "update", "finish", "resume"]


class Engine:
    """Records what it is asked for, and fails at the steps in `fails`."""

    def __init__(self, *fails: str) -> None:
        self.llm: Any = self
        self.asked: list[str] = []
        self.folders: list[str] = []
        self.given_up = ""
        self._fails = fails

    def _note(self, step: str) -> None:
        self.asked.append(step)
        if step in self._fails:
            raise RuntimeError(f"{step} failed")

    async def pause_generation(self, *, mode: str, clear_cache: bool) -> None:
        assert (mode, clear_cache) == ("keep", True), "calls are kept, keys and values are not"
        self._note("pause")

    async def start_weight_update(self) -> None:
        self._note("start")

    async def update_weights(self, request: dict[str, str]) -> None:
        self.folders.append(request["folder"])
        await asyncio.sleep(0)
        self._note("update")

    async def finish_weight_update(self, weight_version: str) -> None:
        self._note("finish")

    async def collective_rpc(self, method: str) -> None:
        self._note(method)

    async def resume_generation(self) -> None:
        self._note("resume")

    @contextlib.contextmanager
    def holding(self) -> Iterator[None]:
        yield

    def give_up(self, reason: str) -> None:
        self.given_up = reason


@pytest.fixture(autouse=True)
def _without_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("vllm", "vllm.distributed", "vllm.distributed.weight_transfer", "vllm.distributed.weight_transfer.base"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    base = sys.modules["vllm.distributed.weight_transfer.base"]
    monkeypatch.setattr(base, "WeightTransferUpdateRequest", lambda info: info, raising=False)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a model, and a link to the versions of a job."""
    _write(tmp_path / "own", SHAPES)
    (tmp_path / "job" / "policy").mkdir(parents=True)
    (tmp_path / "live").symlink_to(tmp_path / "job" / "policy")
    return tmp_path


def _write(folder: Path, shapes: dict[str, list[int]], *, cut: int = 0) -> Path:
    folder.mkdir(parents=True)
    at, header = 0, {}
    for name, shape in shapes.items():
        size = 4 * (shape[0] * shape[-1] if len(shape) > 1 else shape[0])
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    data = struct.pack("<Q", len(text)) + text + bytes(at)
    (folder / "model.safetensors").write_bytes(data[: len(data) - cut])
    (folder / "config.json").write_text('{"tie_word_embeddings": true}')
    return folder


def _followed(place: Path) -> WholeWeights:
    table = f'[learner]\nbackend = "vllm"\nmodel = "{place}/own"\nrevision = "big"\nweights = "{place}/live/*"\n'
    return WholeWeights(parse_aliases(table)["learner"])


async def _policy(weights: WholeWeights, engine: Engine) -> str:
    return (await weights.ready(engine, a_request(alias="learner"))).policy


async def test_each_version_is_exchanged_once_and_named(place: Path) -> None:
    weights, engine = _followed(place), Engine()
    assert (await _policy(weights, engine), engine.asked) == ("big", [])
    _write(place / "job" / "policy" / "1", SHAPES)
    assert await asyncio.gather(*(_policy(weights, engine) for _ in range(3))) == ["policy/1 of big"] * 3
    assert engine.asked == EXCHANGE
    _write(place / "job" / "policy" / "10", SHAPES | {"lm_head.weight": [6, 4]})
    assert policy_version_of(await _policy(weights, engine)) == 10
    assert engine.folders == [str(place / "job" / "policy" / name) for name in ("1", "10")]


async def test_another_job_without_a_version_begins_with_the_model_itself(place: Path) -> None:
    weights, engine = _followed(place), Engine()
    _write(place / "job" / "policy" / "1", SHAPES)
    await _policy(weights, engine)
    (place / "second" / "policy").mkdir(parents=True)
    (place / "live").unlink()
    (place / "live").symlink_to(place / "second" / "policy")
    assert await _policy(weights, engine) == "big"
    assert engine.folders[-1] == ""


async def test_a_broken_version_is_refused_once_and_a_newer_one_is_taken(place: Path) -> None:
    weights, engine = _followed(place), Engine()
    _write(place / "job" / "policy" / "1", SHAPES)
    _write(place / "job" / "policy" / "2", SHAPES, cut=5)
    assert [await _policy(weights, engine) for _ in range(2)] == ["big", "big"]
    assert engine.asked == []
    assert "model.safetensors has" in weights.trouble
    assert "keeps big." in weights.trouble
    _write(place / "job" / "policy" / "3", SHAPES)
    assert await _policy(weights, engine) == "policy/3 of big"
    assert weights.trouble == ""


async def test_an_exchange_that_fails_is_taken_back_and_calls_continue(place: Path) -> None:
    weights, engine = _followed(place), Engine("update")
    _write(place / "job" / "policy" / "1", SHAPES)
    assert await _policy(weights, engine) == "big"
    assert engine.asked == ["pause", "start", "update", "return_to_last_weights", "resume"]
    assert "vLLM says: update failed" in weights.trouble


async def test_an_engine_without_whole_weights_is_given_up(place: Path) -> None:
    weights, engine = _followed(place), Engine("update", "return_to_last_weights")
    _write(place / "job" / "policy" / "1", SHAPES)
    with pytest.raises(EngineLost, match="could not be exchanged"):
        await _policy(weights, engine)
    assert "could not be exchanged" in engine.given_up


async def test_an_adapter_of_an_engine_that_follows_whole_weights_is_rejected(place: Path) -> None:
    with pytest.raises(RequestRejected, match="has no adapter tuned"):
        await _followed(place).ready(Engine(), a_request(alias="tuned"))


@pytest.mark.parametrize(
    ("shapes", "sentence"),
    [
        ({"model.norm.weight": [4]}, r"the weight model\.embed_tokens\.weight is missing"),
        (SHAPES | {"value_head.weight": [4]}, r"the model has no weight value_head\.weight"),
        (SHAPES | {"model.norm.weight": [5]}, r"model\.norm\.weight has the shape 5, not 4"),
        (SHAPES | {"model.embed_tokens.weight": [6, 8]}, "has the shape 6 × 8, not 6 × 4"),
    ],
)
def test_weights_of_another_model_are_named(place: Path, shapes: dict[str, list[int]], sentence: str) -> None:
    with pytest.raises(WrongWeightsError, match=sentence):
        check_weights(_write(place / "version", shapes), place / "own")


def test_files_that_are_missing_or_not_whole_are_named(place: Path) -> None:
    version = _write(place / "version", SHAPES)
    (version / "adapter_config.json").write_text("{}")
    with pytest.raises(WrongWeightsError, match="it holds a LoRA adapter"):
        check_weights(version, None)
    (version / "adapter_config.json").unlink()
    (version / "model.safetensors.index.json").write_text('{"weight_map": {"a": "model-2.safetensors"}}')
    with pytest.raises(WrongWeightsError, match=r"model-2\.safetensors is missing"):
        check_weights(version, None)
    (version / "model.safetensors.index.json").unlink()
    (version / "model.safetensors").write_bytes(b"\x10")
    with pytest.raises(WrongWeightsError, match="not a whole file of safetensors"):
        check_weights(version, None)
    (version / "model.safetensors").unlink()
    (version / "model.safetensors").mkdir()
    with pytest.raises(WrongWeightsError, match=r"model\.safetensors cannot be read"):
        check_weights(version, None)
    shutil.rmtree(version)
    with pytest.raises(WrongWeightsError, match="it holds no safetensors"):
        check_weights(version, None)


def test_the_folder_of_a_model_that_is_not_known_is_not_compared(place: Path) -> None:
    assert own_folder(str(place / "own")) == place / "own"
    assert own_folder(str(place / "job")) is None
    assert own_folder("some/other-model") is None
