"""Fixtures of training jobs; the test with the real trainer is of `make test-learning`, which asks for its marker."""

import pytest

from tests.training_jobs.factory import training  # noqa: F401  (a fixture)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Takes out what is marked `trainer`, unless the marker is asked for."""
    if "trainer" in config.option.markexpr:
        return
    elsewhere = [item for item in items if item.get_closest_marker("trainer")]
    if elsewhere:
        config.hook.pytest_deselected(items=elsewhere)
        items[:] = [item for item in items if item not in elsewhere]
