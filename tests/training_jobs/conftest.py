"""Fixtures of training jobs. The test with the real trainer belongs to `make test-learning`, which selects its marker."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from apps.learning.rollouts import rollouts
from apps.learning.rollouts.rollouts import Rollouts
from tests.training_jobs.factory import training as training
from tests.training_jobs.playing import MODELS, Stage


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests marked `trainer`, unless the marker is selected."""
    if "trainer" in config.option.markexpr:
        return
    elsewhere = [item for item in items if item.get_closest_marker("trainer")]
    if elsewhere:
        config.hook.pytest_deselected(items=elsewhere)
        items[:] = [item for item in items if item not in elsewhere]


@pytest.fixture
def stage(training: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    training.MODELS_FILE = tmp_path / "models.toml"
    training.MODELS_FILE.write_text(MODELS)
    made = Stage()
    monkeypatch.setattr("apps.runs.services.orchestrate", type("Sent", (), {"delay": staticmethod(made.sent.append)}))
    monkeypatch.setattr("apps.runs.services.stop_calls", lambda _run: None)  # No engine has calls.
    monkeypatch.setattr(rollouts, "EVERY_S", 0.0)
    return made


@pytest.fixture
def playing(stage: Stage) -> Iterator[list[Rollouts]]:
    """Rollouts to end after the test."""
    found: list[Rollouts] = []
    yield found
    for one in found:
        one.end()
