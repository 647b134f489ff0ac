"""The model of the tests of trials."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django import Settings

MODELS = """
[prover]
backend = "openai_http"
title = "Prover"
base_url = "http://127.0.0.1:9/v1"
model = "prover"
revision = "{revision}"
context_tokens = 4096
"""


@pytest.fixture(autouse=True)
def models(settings: Settings, tmp_path: Path) -> Callable[[str], None]:
    """A models file with one HTTP model; the returned function changes its revision."""
    settings.MODELS_FILE = tmp_path / "models.toml"

    def write(revision: str) -> None:
        Path(settings.MODELS_FILE).write_text(MODELS.format(revision=revision))

    write("one")
    return write
