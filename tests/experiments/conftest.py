"""Fixtures of experiments: a served model, its answers, and the stage that plays experiments."""

from pathlib import Path

import pytest
from django.conf import LazySettings

from tests.experiments.driving import Stage
from tests.graders.grade import grading
from tests.grading.test_grade_command import MODELS


@pytest.fixture(autouse=True)
def models(settings: LazySettings, tmp_path: Path) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)


@pytest.fixture
def answers() -> dict[str, object]:
    """The model's answers by pattern of call keys; tests modify it."""
    return {"*": grading(3)}


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, answers: dict[str, object]) -> Stage:
    return Stage(monkeypatch, answers)  # type: ignore[arg-type]
