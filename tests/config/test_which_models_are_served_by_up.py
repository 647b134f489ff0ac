"""`make up` serves every model that its environment can serve. vLLM may be in another environment, with its own worker."""

import importlib.util
from pathlib import Path

import pytest
from pytest_django import Settings

from apps.config.stack import programs

BIG = '[big]\nbackend = "vllm"\ntitle = "Big"\nmodel = "big"\n'
SCRIPTED = '[scripted]\nbackend = "scripted"\ntitle = "Scripted"\noptions.script = "x.toml"\n'


def _queues(settings: Settings, folder: Path, models: str) -> list[str]:
    settings.MODELS_FILE = folder / "models.toml"
    settings.MODELS_FILE.write_text(models)
    found = [program.command for program in programs() if program.name == "inference"]
    return found[0][list(found[0]).index("-Q") + 1].split(",") if found else []


@pytest.mark.parametrize("is_installed", [True, False])
def test_vllm_models_are_served_only_if_vllm_is_installed(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_installed: bool
) -> None:
    real = importlib.util.find_spec
    spec = object() if is_installed else None
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: spec if name == "vllm" else real(name, *rest))
    settings.DATA_DIR = tmp_path
    both = ["inference.big", "inference.scripted"] if is_installed else ["inference.scripted"]
    assert _queues(settings, tmp_path, BIG + SCRIPTED) == both
    assert _queues(settings, tmp_path, BIG) == (["inference.big"] if is_installed else []), "there is no worker without a model"
