"""Fixtures for all tests: the cast, clients signed in as its members, and settings that make tests fast."""

import importlib.util
import os
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connections
from django.test import Client
from hypothesis import settings as hypothesis_settings
from pytest_django import Settings

from apps.accounts.models import User
from tests.cast import person
from tests.servers import _valkey_url, valkey  # noqa: F401  (fixtures)
from workers.library.embedding import model_folder

# How long an example takes says how busy the machine is; times are measured in benchmarks/.
hypothesis_settings.register_profile("untimed", deadline=None, derandomize=os.environ.get("CI") == "true")
hypothesis_settings.load_profile("untimed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: "pytest.CallInfo[None]"
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """On a bare laptop a test may skip; in CI everything is installed, and a skip hides a missing install step."""
    report = yield
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report


_ELSEWHERE = {
    "vllm": importlib.util.find_spec("vllm") is not None,
    "gpu": Path("/dev/nvidia0").exists(),
    "irrcac": importlib.util.find_spec("irrCAC") is not None,
    "minilm": model_folder() is not None,
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What needs vLLM, a GPU or a package that no lock file has is not of this suite where there is none.

    `make test-vllm` is the suite for vLLM.
    """
    elsewhere = [item for item in items if any(item.get_closest_marker(mark) and not here for mark, here in _ELSEWHERE.items())]
    if elsewhere:
        config.hook.pytest_deselected(items=elsewhere)
        items[:] = [item for item in items if item not in elsewhere]


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """PostgreSQL drops no database that somebody is connected to; what a closed pool leaves takes a moment to go."""
    if connections["default"].vendor == "sqlite":
        _rows_go_between_tests()
    yield
    for connection in connections.all():
        connection.close()
        if hasattr(connection, "close_pool"):
            connection.close_pool()
            _wait_until_alone(connection.settings_dict["NAME"])


def _rows_go_between_tests() -> None:
    """Between tests SQLite deletes rows (PostgreSQL truncates); triggers that refuse that step aside meanwhile."""
    connection = connections["default"]
    emptied = connection.ops.sql_flush

    def sql_flush(style: Any, tables: list[str], **how: Any) -> list[str]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%BEFORE DELETE%'")
            triggers = dict(cursor.fetchall())
        return [*(f"DROP TRIGGER {name}" for name in triggers), *emptied(style, tables, **how), *triggers.values()]

    connection.ops.sql_flush = sql_flush  # type: ignore[method-assign, assignment]


def _wait_until_alone(database: str) -> None:
    ask = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as elsewhere:
        for _ in range(50):
            row = elsewhere.execute(ask, [database]).fetchone()
            if row is None or row[0] == 0:
                return
            time.sleep(0.1)


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
