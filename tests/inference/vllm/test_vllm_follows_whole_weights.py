"""An engine of vLLM that follows the whole weights of a training job, with a tiny random Llama on the CPU.

Log-probabilities are compared with those of transformers for the same weights. With a prompt of its own keys and values, a
token under other weights differs by whole units.
"""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from apps.reasoning.domain.generation import Capture, Final
from apps.reasoning.inference.aliases import parse_aliases
from apps.reasoning.inference.streaming import read_to_final
from tests.inference.conftest import a_request
from tests.inference.vllm.vllm_here import LOADED_WITHIN_S, OWN_VLLM, policy_folder, write_llama
from workers.engines.vllm import VllmBackend

pytestmark = [*OWN_VLLM, pytest.mark.asyncio(loop_scope="module")]

TEXT = "Tell a long story about a fox and a crow."
TOLERANCE = 1e-4
TOML = """
[learner]
backend = "vllm"
model = "{folder}/own"
revision = "tiny"
weights = "{folder}/live/*"
context_tokens = 512
concurrency = 8

[learner.options]
dtype = "float32"
enforce_eager = true
cache_gb = 1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the model, and a link to the versions of a job as its driver makes it."""
    made = tmp_path_factory.mktemp("followed")
    write_llama(made / "own", seed=0)
    (made / "job" / "policy").mkdir(parents=True)
    (made / "live").symlink_to(made / "job" / "policy")
    return made


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def follower(folder: Path) -> AsyncIterator[VllmBackend]:
    backend = VllmBackend(parse_aliases(TOML.format(folder=folder))["learner"])
    async with asyncio.timeout(LOADED_WITHIN_S):
        await backend.start()
    yield backend
    await backend.close()


async def _drawn(backend: VllmBackend, key: str = "call", **fields: object) -> Final:
    body = {"temperature": 0.8, "top_p": 1.0, "seed": 7, "max_new_tokens": 24, "capture": True} | fields
    return await read_to_final(backend, a_request(key, TEXT, alias="learner", **body))


def _captured(final: Final) -> Capture:
    assert final.capture is not None
    return final.capture


def _greatest_difference(capture: Capture, weights: Sequence[Path]) -> float:
    """Between the engine's log-probabilities and those of transformers, the n-th token under the n-th of `weights`."""
    import torch
    from transformers import LlamaForCausalLM

    ids, first = torch.tensor([[*capture.prompt_ids, *capture.completion_ids]]), len(capture.prompt_ids)
    known: dict[Path, list[float]] = {}
    for path in set(weights):
        with torch.no_grad():
            logits = LlamaForCausalLM.from_pretrained(path, dtype=torch.float32)(ids).logits[0, first - 1 : -1]
        scores = torch.log_softmax(logits / capture.temperature, -1)
        known[path] = scores.gather(1, ids[0, first:, None])[:, 0].tolist()
    found = enumerate(zip(weights, capture.logprobs, strict=True))
    return max(abs(known[path][place] - logprob) for place, (path, logprob) in found)


def _all(path: Path, capture: Capture) -> list[Path]:
    return [path] * len(capture.completion_ids)


async def test_each_version_draws_with_its_own_weights(follower: VllmBackend, folder: Path) -> None:
    own = await _drawn(follower, "own")
    assert (own.model_revision, _captured(own).policy) == ("tiny", "tiny"), "before the first version"
    assert _greatest_difference(_captured(own), _all(folder / "own", _captured(own))) < TOLERANCE
    texts = [own.text]
    for version in (1, 2):
        write_llama(policy_folder(folder) / str(version), seed=version)
        final = await _drawn(follower, "version")
        capture = _captured(final)
        assert final.model_revision == capture.policy == f"policy/{version} of tiny"
        assert capture.segments == ()
        assert _greatest_difference(capture, _all(policy_folder(folder) / str(version), capture)) < TOLERANCE
        texts.append(final.text)
    assert len(set(texts)) == 3
    assert final.usage.cached == 0, "keys and values of old weights are not used"


async def test_calls_under_way_continue_under_the_new_weights(follower: VllmBackend, folder: Path) -> None:
    write_llama(policy_folder(folder) / "3", seed=3)
    write_llama(folder / "next", seed=4)
    requests = [
        a_request(f"long/{number}", TEXT, temperature=0.8, top_p=1.0, seed=number, max_new_tokens=300, capture=True,
                  alias="learner", deadline_s=200.0)
        for number in range(4)
    ]  # fmt: skip
    streams = [follower.generate(request) for request in requests]
    for stream in streams:
        await anext(stream)
    (folder / "next").rename(policy_folder(folder) / "4")
    await _drawn(follower, "new")
    for stream in streams:
        *_, final = [item async for item in stream]
        assert isinstance(final, Final)
        capture = _captured(final)
        assert [one.policy for one in capture.segments] == ["policy/3 of tiny", "policy/4 of tiny"]
        assert (capture.policy, final.model_revision) == ("policy/3 of tiny", "policy/4 of tiny")
        assert sum(one.tokens for one in capture.segments) == len(capture.completion_ids) == final.usage.completion
        drawn = [policy_folder(folder) / str(3 + part) for part, one in enumerate(capture.segments) for _ in range(one.tokens)]
        assert _greatest_difference(capture, drawn) < TOLERANCE


async def test_a_broken_version_is_refused_and_the_engine_continues(follower: VllmBackend, folder: Path) -> None:
    before = await _drawn(follower, "before")
    broken = policy_folder(folder) / "5"
    shutil.copytree(policy_folder(folder) / "4", broken)
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])
    after = await _drawn(follower, "after")
    assert (after.text, after.model_revision) == (before.text, "policy/4 of tiny")
    detail = (await follower.health()).detail
    assert f"The weights in {broken} cannot be used: model.safetensors has " in detail
    assert "The engine keeps policy/4 of tiny." in detail
    write_llama(policy_folder(folder) / "6", seed=6)
    assert (await _drawn(follower, "newer")).model_revision == "policy/6 of tiny"
    assert "cannot be used" not in (await follower.health()).detail


async def test_weights_that_fail_half_way_are_taken_back(
    follower: VllmBackend, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a folder passes our check only if the model's own folder is not known."""
    monkeypatch.setattr("workers.engines.weights.whole.own_folder", lambda model: None)
    before = await _drawn(follower, "before")
    write_llama(policy_folder(folder) / "7", seed=7, wrong="model.layers.1.mlp.down_proj.weight")
    after = await _drawn(follower, "after")
    assert (after.text, after.model_revision) == (before.text, before.model_revision)
    assert "cannot be used: vLLM says: " in (await follower.health()).detail
    assert _greatest_difference(_captured(after), _all(policy_folder(folder) / "6", _captured(after))) < TOLERANCE
    shutil.rmtree(policy_folder(folder) / "7")
    engine = follower._engine
    assert engine is not None
    await engine.llm.collective_rpc("load_weights_again")
    assert (await _drawn(follower, "again")).text == before.text, "as after a sleep that kept no weights"


async def test_a_job_without_a_version_begins_with_the_model_itself(follower: VllmBackend, folder: Path) -> None:
    (folder / "second" / "policy").mkdir(parents=True)
    (folder / "live").unlink()
    (folder / "live").symlink_to(folder / "second" / "policy")
    final = await _drawn(follower, "second")
    assert final.model_revision == "tiny"
    assert _greatest_difference(_captured(final), _all(folder / "own", _captured(final))) < TOLERANCE
    shutil.copytree(folder / "job" / "policy" / "6", folder / "second" / "policy" / "1")
    config = json.loads((folder / "own" / "config.json").read_text())
    assert config["tie_word_embeddings"] is True, "the tied output layer follows too"
    assert (await _drawn(follower, "first of second")).model_revision == "policy/1 of tiny"
