"""The trainer's checks of `make gpu-check` with a small model on the CPU; without a GPU they are missing."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.gpu import training
from benchmarks.gpu.checks import Check, Place, Result, result_of
from benchmarks.gpu.models import make_model, write_adapter
from workers.training.models import is_adapter


async def _ended(name: str, place: Place) -> Result:
    return await result_of(next(one for one in training.CHECKS if one.name == name), place)


def ended(name: str, place: Place) -> Result:
    import asyncio

    return asyncio.run(_ended(name, place))


@pytest.mark.parametrize("name", ["cuda", "full_weights", "adapter", "memory_8k"])
def test_a_check_passes_on_the_cpu(tmp_path: Path, name: str) -> None:
    found = ended(name, Place("cpu", tmp_path))
    assert (found.state, found.why) == ("passed", "")
    assert float(found.figures.get("weights_moved", 1.0)) > 0.5


@pytest.mark.skipif(torch.cuda.is_available(), reason="This machine has a GPU.")
@pytest.mark.parametrize("check", [one for one in training.CHECKS if one.where == "trainer"], ids=lambda one: one.name)
def test_without_a_gpu_a_check_is_missing(tmp_path: Path, check: Check) -> None:
    found = ended(check.name, Place("cuda", tmp_path))
    assert (found.state, found.why.rpartition(", ")[2]) == ("missing", "finds no GPU.")


def test_weights_that_do_not_move_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "_moved", lambda *_: 0.03)
    assert ended("full_weights", Place("cpu", tmp_path)).why == "Only 3.0% of the weights changed."


@pytest.mark.parametrize("away", [0.0, 0.1])
def test_captured_log_probabilities_are_compared_at_their_temperature(tmp_path: Path, away: float) -> None:
    place = Place("cpu", tmp_path)
    model = make_model(tmp_path / "model", "cpu", training.CONTEXT)
    (tmp_path / training.CAPTURES).write_text(json.dumps({"0.8": [_captured(model, 0.8, away)]}))
    found = ended("logprobs", place)
    assert found.state == ("failed" if away else "passed")
    assert "At temperature 0.8 they differ by 0.1" in found.why or not away


def _captured(folder: Path, temperature: float, away: float) -> dict[str, Any]:
    from workers.training.models import load_model

    prompt, completion = [5, 6, 7], [8, 9, 10, 11]
    with torch.no_grad():
        logits = load_model(folder)(input_ids=torch.tensor([prompt + completion])).logits[0, 2:-1] / temperature
    scores = logits.log_softmax(-1).gather(1, torch.tensor(completion)[:, None])[:, 0] + away
    return {"prompt_ids": prompt, "completion_ids": completion, "logprobs": scores.tolist()}


def test_adapters_of_random_weights_fit_the_model(tmp_path: Path) -> None:
    from peft import PeftModel

    from workers.training.models import load_model

    model = make_model(tmp_path / "model", "cpu", training.CONTEXT)
    folder = write_adapter(tmp_path / "adapter", model, 1)
    assert is_adapter(folder)
    PeftModel.from_pretrained(load_model(model), folder)
