"""The registry contains trained models in addition to those of models.toml, and they never break it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.reasoning.inference.aliases import load_aliases, load_usable, parse_aliases
from apps.reasoning.inference.trained import read_also, trained_file

ENGINE = """
[qwen]
backend = "vllm"
title = "Qwen"
model = "Qwen/Qwen3-8B"
revision = "abc"
context_tokens = 8192
[qwen.options]
tensor_parallel = 2

[small]
backend = "openai_http"
base_url = "http://localhost:9/v1"
model = "small"
"""
TRAINED = """
[prover]
adapter_of = "qwen"
adapter = "/data/prover"
title = "Prover"
revision = "r1"
candidate = true

[whole]
like = "qwen"
model = "/data/whole"
title = "Whole"
revision = "r2"

[orphan]
like = "gone"
model = "/data/orphan"

[misplaced]
like = "small"
model = "/data/misplaced"

[small]
like = "qwen"
model = "/data/impostor"
"""


@pytest.fixture
def models(tmp_path: Path) -> Iterator[Path]:
    path = trained_file(tmp_path)
    path.parent.mkdir()
    path.write_text(TRAINED)
    (tmp_path / "own.toml").write_text(ENGINE)
    read_also(path)
    yield tmp_path / "own.toml"
    read_also(None)


def test_an_adapter_uses_its_engine_and_a_full_model_the_settings_of_its_alias(models: Path) -> None:
    known = load_aliases(models)
    assert set(known) == {"qwen", "small", "prover", "whole"}
    assert (known["prover"].engine, known["prover"].adapter, known["prover"].candidate) == ("qwen", "/data/prover", True)
    assert [one.path for one in known["qwen"].adapters] == ["/data/prover"]
    whole = known["whole"]
    assert (whole.engine, whole.model, whole.title, whole.revision) == ("whole", "/data/whole", "Whole", "r2")
    assert (whole.context_tokens, whole.options) == (8192, known["qwen"].options)


def test_only_promoted_models_can_be_chosen(models: Path) -> None:
    assert set(load_usable(models)) == {"qwen", "small", "whole"}


def test_a_trained_model_never_hides_or_breaks_one_of_models_toml(models: Path) -> None:
    assert load_aliases(models)["small"].model == "small"
    trained_file(models.parent).write_text("not = [toml")
    assert set(load_aliases(models)) == {"qwen", "small"}
    trained_file(models.parent).unlink()
    assert set(load_aliases(models)) == {"qwen", "small"}


def test_without_trained_models_nothing_changes() -> None:
    assert set(parse_aliases(ENGINE)) == {"qwen", "small"}
