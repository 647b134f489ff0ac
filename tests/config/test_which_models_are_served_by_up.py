"""`make up` serves every model that its environment can; vLLM may live in another one, with a worker of its own."""

import importlib.util
from pathlib import Path

import pytest
from pytest_django import Settings

from apps.config.stack import programs

BIG = '[big]\nbackend = "vllm"\ntitle = "Big"\nmodel = "big"\n'
SCRIPTED = '[told]\nbackend = "scripted"\ntitle = "Told"\noptions.script = "x.toml"\n'


def _queues(settings: Settings, folder: Path, models: str) -> list[str]:
    settings.MODELS_FILE = folder / "models.toml"
    settings.MODELS_FILE.write_text(models)
    found = [program.command for program in programs() if program.name == "inference"]
    return found[0][list(found[0]).index("-Q") + 1].split(",") if found else []


@pytest.mark.parametrize("is_installed", [True, False])
def test_models_of_vllm_wait_for_a_worker_where_it_is_installed(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_installed: bool
) -> None:
    real = importlib.util.find_spec
    spec = object() if is_installed else None
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: spec if name == "vllm" else real(name, *rest))
    settings.DATA_DIR = tmp_path
    both = ["inference.big", "inference.told"] if is_installed else ["inference.told"]
    assert _queues(settings, tmp_path, BIG + SCRIPTED) == both
    assert _queues(settings, tmp_path, BIG) == (["inference.big"] if is_installed else []), "a worker without a model is none"
