"""A model that is served, and the stage on which experiments are played."""

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
    """What the model answers, by key of the call; tests change it."""
    return {"*": grading(3)}


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, answers: dict[str, object]) -> Stage:
    return Stage(monkeypatch, answers)  # type: ignore[arg-type]
