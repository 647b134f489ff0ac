"""Fixtures of the tests of forks."""

from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from apps.accounts.models import Role, User
from tests.explorations.test_start_form import MODELS


@pytest.fixture
def ada(db: None, client: Client, settings: Settings, tmp_path: Path) -> User:
    """A researcher, signed in as `client`, where the models of the start form are served."""
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)
    user = User.objects.create(username="ada", role=Role.RESEARCHER)
    client.force_login(user)
    return user
