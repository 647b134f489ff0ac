"""Databases with all tables, migrated once for a test run. Migrating takes 40 s of processor time, a copy a moment."""

import contextlib
import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.db import connections

ROOT = Path(__file__).resolve().parents[1]


def migrated_file() -> Path:
    """An SQLite database to copy. The first process that asks makes it, the others wait."""
    file = _folder() / "lemmascope.sqlite3"
    with _alone("sqlite") as done:
        if not done.exists():
            _migrate({"DATA_DIR": str(_folder())})
            with contextlib.closing(sqlite3.connect(file)) as database:
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # The file alone is copied.
            done.touch()
    return file


def migrated_database(url: str) -> str:
    """The name of such a database on the PostgreSQL server of `url`, to be a template of others."""
    with _alone(f"postgres-{urlsplit(url).port}") as done:
        if done.exists():
            return done.read_text()
        name = f"migrated_{uuid.uuid4().hex[:12]}"
        database_create(url, name)
        _migrate({"DATABASE_URL": url_of(url, name), "EMBEDDED": "1"})
        done.write_text(name)
        return name


def database_create(url: str, name: str, how: str = "") -> None:
    """Create a database on the server of `url`."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" {how}')


def url_of(url: str, name: str) -> str:
    """The URL of another database on the server of `url`."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def copies_for_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Django create the test database as a copy; its own migrating then finds nothing to do."""
    connection = connections["default"]
    if connection.vendor == "postgresql":
        monkeypatch.setitem(connection.settings_dict["TEST"], "TEMPLATE", migrated_database(os.environ["DATABASE_URL"]))
        return
    create = connection.creation._create_test_db  # type: ignore[attr-defined]

    def created(*args: object, **options: object) -> str:
        name: str = create(*args, **options)
        for rest in ("-wal", "-shm"):  # Of a test run that was killed; with another database they make it unreadable.
            Path(f"{name}{rest}").unlink(missing_ok=True)
        shutil.copy(migrated_file(), name)
        return name

    monkeypatch.setattr(connection.creation, "_create_test_db", created)


def forget() -> None:
    """Remove the file at the end of a test run."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        shutil.rmtree(_folder(), ignore_errors=True)


def _folder() -> Path:
    """A folder for all processes of this run: those of pytest-xdist are children of the one that prints."""
    run = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
    folder = Path(tempfile.gettempdir()) / f"lemmascope-migrated-{run}"
    folder.mkdir(exist_ok=True)
    return folder


@contextmanager
def _alone(name: str) -> Iterator[Path]:
    """Hold a lock on what is made under this name. Yields the file that says it is done."""
    with (_folder() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield _folder() / f"{name}.done"


def _migrate(env: dict[str, str]) -> None:
    command = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
    subprocess.run(command, env={**os.environ, **env}, cwd=ROOT, check=True, timeout=600)
