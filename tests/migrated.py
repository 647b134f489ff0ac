"""Databases with all tables, migrated once. Migrating takes 40 s of processor time, a copy a moment.

An SQLite database is kept in the folder for temporary files until models, migrations or locked packages change. On a PostgreSQL
server there is one for each test run.
"""

import contextlib
import fcntl
import functools
import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
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
    folder = _folder(_tables())
    file = folder / "lemmascope.sqlite3"
    with _alone("sqlite", folder) as done:
        if not (done.exists() and file.exists()):
            _old_forget(folder)
            with tempfile.TemporaryDirectory(prefix="lemmascope-migrating-") as new:
                _migrate({"DATA_DIR": new})
                with contextlib.closing(sqlite3.connect(Path(new) / file.name)) as database:
                    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # The file alone is copied.
                shutil.move(Path(new) / file.name, file)
            done.touch()
    return file


def migrated_database(url: str) -> str:
    """The name of such a database on the PostgreSQL server of `url`, to be a template of others."""
    with _alone(f"postgres-{urlsplit(url).port}", _folder(_run())) as done:
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
    """Remove the files of a test run at its end."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        shutil.rmtree(_folder(_run()), ignore_errors=True)


def _run() -> str:
    """This test run: processes of pytest-xdist are children of the one that prints."""
    return str(os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid())


@functools.cache
def _tables() -> str:
    """A hash of what the tables and their first rows are made from, and of the user, who owns the file."""
    made_from = sorted(path for path in (ROOT / "apps").rglob("*.py") if {"migrations", "models", "models.py"} & {*path.parts})
    digest = hashlib.sha256(f"{os.getuid()} {sys.version}".encode())
    for path in (ROOT / "requirements.txt", *made_from):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _old_forget(kept: Path) -> None:
    """Remove databases of other tables that were not used for a week."""
    for folder in kept.parent.glob("lemmascope-migrated-*"):
        with contextlib.suppress(OSError):
            if folder != kept and time.time() - folder.stat().st_mtime > 7 * 86_400:
                shutil.rmtree(folder)


def _folder(name: str) -> Path:
    folder = Path(tempfile.gettempdir()) / f"lemmascope-migrated-{name}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


@contextmanager
def _alone(name: str, folder: Path) -> Iterator[Path]:
    """Hold a lock on what is made under this name. Yields the file that says it is done."""
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder / f"{name}.done"


def _migrate(env: dict[str, str]) -> None:
    command = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
    subprocess.run(command, env={**os.environ, **env}, cwd=ROOT, check=True, timeout=600)
