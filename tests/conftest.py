"""Fixtures for all tests: users, signed-in clients, and settings that make tests fast."""

import faulthandler
import functools
import importlib.util
import os
import shutil
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key
from django.contrib.contenttypes.management import create_contenttypes
from django.core.cache import caches
from django.db import connections
from django.db.models.signals import post_migrate
from django.test import Client
from hypothesis import settings as hypothesis_settings
from pytest_django import Settings

from apps.accounts.models import User
from tests.cast import person
from tests.distribution import (
    group_slow_tests,
    pytest_runtest_logreport,  # noqa: F401  (hook)
    pytest_xdist_auto_num_workers,  # noqa: F401  (hook)
    pytest_xdist_make_scheduler,  # noqa: F401  (hook)
)
from tests.hangs import Watch, time_limits_stop_loops
from tests.migrated import copies_for_tests, forget
from tests.progress import pytest_configure  # noqa: F401  (hook)
from tests.servers import _valkey_url, valkey  # noqa: F401  (fixtures)
from tests.unsteady import pytest_sessionfinish, pytest_terminal_summary, repeat_once  # noqa: F401  (hooks)
from workers import exits
from workers.library.embedding import model_folder

# The time of an example depends on how busy the machine is; benchmarks/ measures times.
hypothesis_settings.register_profile("untimed", deadline=None, derandomize=os.environ.get("CI") == "true")
hypothesis_settings.load_profile("untimed")


time_limits_stop_loops()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: "pytest.CallInfo[None]"
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail skipped tests in CI, where everything is installed and a skip would hide a missing install step."""
    report = yield
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report


#: A test that no signal reaches any more prints the stacks of its threads and ends its process. Without this a CI run waited
#: half an hour, the time of `faulthandler_timeout`, which kill tests need.
HANGS_S = 420
#: What is waited for is printed this long before.
SHOWN_BEFORE_S = 20


@functools.cache
def _watch(descriptor: int) -> Watch:
    return Watch(descriptor, HANGS_S - SHOWN_BEFORE_S)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if not any(map(item.get_closest_marker, ("kill", "vllm", "timeout"))):
        shown = item.config.stash.get(fault_handler_stderr_fd_key, None)
        if shown is not None:
            faulthandler.dump_traceback_later(HANGS_S, exit=True, file=shown)
            _watch(shown).begin()


def pytest_runtest_teardown(item: pytest.Item) -> None:
    if _watch.cache_info().currsize:
        _watch(item.config.stash[fault_handler_stderr_fd_key]).end()


#: Set by `make test-kills` and `make test-thorough`.
THOROUGH = os.environ.get("THOROUGH") == "true"

#: Time limit in seconds of tests that kill real processes in several rounds; others use `timeout` in pyproject.toml.
KILLS_TAKE_S = 1200

_ELSEWHERE = {
    "thorough": THOROUGH,
    "vllm": importlib.util.find_spec("vllm") is not None,
    "gpu": Path("/dev/nvidia0").exists(),
    "postgresql": os.environ.get("DATABASE_URL", "").startswith("postgres"),
    "irrcac": importlib.util.find_spec("irrCAC") is not None,
    "minilm": model_folder() is not None,
    "coq": shutil.which(os.environ.get("COQ_BIN") or "coqc") is not None,
    "lean": bool(os.environ.get("LEAN_BIN")),
    "inspect": (Path(__file__).resolve().parents[1] / ".venv-inspect" / "bin" / "python").exists(),
    "readers": (Path(__file__).resolve().parents[1] / ".venv-readers" / "bin" / "python").exists(),
    "geometry": (Path(__file__).resolve().parents[1] / ".venv-geometry" / "bin" / "python").exists(),
    "verifiers": (Path(__file__).resolve().parents[1] / ".venv-verifiers" / "bin" / "python").exists(),
    "trainer": (Path(__file__).resolve().parents[1] / ".venv-train" / "bin" / "python").exists(),
}


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in a hook of the same name.
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests that need vLLM, a GPU or a package outside our locks if it is missing.

    `make test-vllm` is the suite for vLLM, `make test-inspect` that for inspect-ai, `make test-readers` that for exported
    files, `make test-geometry` that for the geometry engine, `make test-verifiers` that for verifiers. `make test-thorough`
    also runs the tests that the suite samples.
    """
    elsewhere = [item for item in items if any(item.get_closest_marker(mark) and not here for mark, here in _ELSEWHERE.items())]
    if os.environ.get("ONLY_WITH_DATABASE") == "true":
        elsewhere += [item for item in items if item not in elsewhere and not _uses_database(item)]
    if elsewhere:
        config.hook.pytest_deselected(items=elsewhere)
        left_out = set(elsewhere)
        items[:] = [item for item in items if item not in left_out]
    repeat_once(config, items)
    group_slow_tests(items)
    for item in items:
        if item.get_closest_marker("kill"):
            item.add_marker(pytest.mark.timeout(KILLS_TAKE_S))


def _uses_database(item: pytest.Item) -> bool:
    """Whether the test uses the database, or processes that do."""
    asked = getattr(item, "fixturenames", ())
    return item.get_closest_marker("django_db") is not None or not {"db", "transactional_db", "stack"}.isdisjoint(asked)


@pytest.fixture(scope="session")
def _copied_database() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        copies_for_tests(patched)
        yield


def pytest_unconfigure() -> None:
    """Remove the database that tests copied."""
    forget()


@pytest.fixture(scope="session")
def django_db_setup(_copied_database: None, django_db_setup: None) -> Iterator[None]:
    """Close all connections at the end: PostgreSQL cannot drop a database in use, and a closed pool needs a moment."""
    _empty_tables_between_tests()
    yield
    for connection in connections.all():
        connection.close()
        if hasattr(connection, "close_pool"):
            connection.close_pool()
            _wait_until_alone(connection.settings_dict["NAME"])


_TRIGGERS = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%BEFORE DELETE%'"


def _empty_tables_between_tests() -> None:
    """Empty the tables between tests that commit, and do not recreate permissions, which no test uses.

    Triggers that forbid deletion are disabled meanwhile. On SQLite every table is emptied, even one without rows, because a
    server's thread may still write one. On PostgreSQL, where DELETE is more expensive, this process has no servers.
    """
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    post_migrate.disconnect(create_contenttypes)
    connection = connections["default"]
    quoted = connection.ops.quote_name

    def sql_flush(_: Any, tables: list[str], **__: Any) -> list[str]:
        asked = [table for table in tables if table not in ("django_content_type", "auth_permission")]
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                cursor.execute(_TRIGGERS)
                triggers = dict(cursor.fetchall())
                deleted = [f"DELETE FROM {quoted(name)}" for name in asked]
                return [*(f"DROP TRIGGER {name}" for name in triggers), *deleted, *triggers.values()]
            cursor.execute(" UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM {quoted(name)})" for name in asked))
            deleted = [f"DELETE FROM {quoted(name)}" for (name,) in cursor.fetchall()]
        return ["SET LOCAL session_replication_role = replica", *deleted] if deleted else []

    connection.ops.sql_flush = sql_flush  # type: ignore[method-assign, assignment]


def _wait_until_alone(database: str) -> None:
    ask = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as elsewhere:
        for _ in range(50):
            row = elsewhere.execute(ask, [database]).fetchone()
            if row is None or row[0] == 0:
                return
            time.sleep(0.1)


def pytest_sessionstart() -> None:
    """Keep code from ending the test process, even between tests."""
    exits.end_process = _note_end


_ends: list[str] = []


def _note_end(code: int, reason: str) -> None:
    _ends.append(f"{reason} (exit code {code})")


@pytest.fixture(autouse=True)
def _no_test_ends_its_process() -> Iterator[None]:
    """Fail a test in which a watchdog would have ended this process. Real ends are tested in child processes."""
    yield
    ends, _ends[:] = list(_ends), []
    assert not ends, f"This process would have ended: {'; '.join(ends)}"


@pytest.fixture(autouse=True)
def _fast_settings(settings: Settings) -> None:
    """Use a fast hasher, because Argon2 is slow on purpose, and no collected static files."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.STATIC_ROOT = None


@pytest.fixture(autouse=True)
def _no_kept_choices() -> None:
    """Forget what an earlier test kept for some seconds: rolled-back rows give their keys to those of the next test."""
    caches["local"].clear()


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
    """Make a test client, signed in as a user or anonymous (None)."""

    def make(user: User | None) -> Client:
        client = Client()
        if user is not None:
            client.force_login(user)
        return client

    return make
