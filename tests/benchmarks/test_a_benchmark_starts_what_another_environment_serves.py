"""`make up` leaves vLLM models to an environment with vLLM. A benchmark names that environment and starts them itself."""

from pathlib import Path

import pytest
from pytest_django import Settings

from apps.config import stack
from benchmarks.processes import Processes


@pytest.fixture(autouse=True)
def _only_a_model_of_vllm(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack, "is_servable_here", lambda alias: alias.backend != "vllm")
    models = tmp_path / "models.toml"
    models.write_text('[large]\nbackend = "vllm"\nmodel = "somewhere/large"\nconcurrency = 4\n')
    settings.MODELS_FILE = models


def test_the_stack_has_no_process_for_a_vllm_model() -> None:
    assert "inference" not in {program.name for program in stack.programs()}


def test_a_benchmark_has_a_process_for_a_vllm_model(tmp_path: Path) -> None:
    processes = Processes(folder=tmp_path, python="/elsewhere/bin/python")
    assert "inference.large" in " ".join(processes._commands["inference"])
