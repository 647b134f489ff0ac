"""Fixtures for all tests: the cast, clients signed in as its members, and settings that make tests fast."""

from collections.abc import Callable

import pytest
from django.test import Client
from pytest_django import Settings

from apps.accounts.models import User
from tests.cast import person
from tests.servers import _valkey_url, valkey  # noqa: F401  (fixtures)


@pytest.fixture(autouse=True)
def _fast_settings(settings: Settings) -> None:
    """Argon2 is slow on purpose, and WhiteNoise would look for collected files."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.STATIC_ROOT = None


@pytest.fixture
def alice(db: None) -> User:
    """A researcher."""
    return person("alice")


@pytest.fixture
def bob(db: None) -> User:
    """A coach."""
    return person("bob")


@pytest.fixture
def charlie(db: None) -> User:
    """A student."""
    return person("charlie")


@pytest.fixture
def dana(db: None) -> User:
    """A coach who is staff."""
    return person("dana")


@pytest.fixture
def client_for() -> Callable[[User | None], Client]:
    """Make a test client signed in as a user, or as nobody."""

    def make(user: User | None) -> Client:
        client = Client()
        if user is not None:
            client.force_login(user)
        return client

    return make
