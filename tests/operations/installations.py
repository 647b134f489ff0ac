"""Small installations for tests of backups: a database with migrations, and folders with files."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from apps.operations.backups.archive import Manifest
from apps.operations.backups.databases import Database
from apps.operations.backups.making import Made, backup_make
from apps.operations.backups.restoring import backup_restore, backup_verify, header_accept, installation_is_empty
from apps.operations.backups.sqlite import SqliteDatabase

KNOWN = {("runs", "0001_initial"), ("runs", "0002_start_id")}


def quiet(*_: int) -> None:
    """Report no progress."""


def sqlite_in(folder: Path, *names: str) -> SqliteDatabase:
    """A database in WAL mode with these applied migrations of `runs`, and an empty table `fact`."""
    folder.mkdir(parents=True, exist_ok=True)
    database = SqliteDatabase(folder / "lemmascope.sqlite3")
    with closing(sqlite3.connect(database.path)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE django_migrations (id INTEGER PRIMARY KEY, app TEXT, name TEXT)")
        connection.executemany("INSERT INTO django_migrations (app, name) VALUES ('runs', ?)", [(name,) for name in names])
        connection.execute("CREATE TABLE fact (id INTEGER PRIMARY KEY, body TEXT)")
    return database


def facts(database: SqliteDatabase) -> list[str]:
    with closing(sqlite3.connect(database.path)) as connection:
        return [body for (body,) in connection.execute("SELECT body FROM fact ORDER BY id")]


def make(target: Path, database: Database, data_dir: Path, *without: str) -> Made:
    return backup_make(
        target, database=database, data_dir=data_dir, application="1.2.0", without=frozenset(without), report=quiet
    )


def restore(source: Path, database: Database, data_dir: Path, *, keep_key: bool = False) -> Manifest:
    """Restore as `manage.py restore`, without processes and the broker."""
    data_dir.mkdir(parents=True, exist_ok=True)
    header_accept(source, database.vendor, KNOWN, "1.2.0")
    manifest = backup_verify(source, quiet)
    installation_is_empty(database, data_dir, manifest)
    backup_restore(source, manifest, database=database, data_dir=data_dir, keep_key=keep_key, report=quiet)
    return manifest


def files_below(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if not path.is_dir() or path.is_symlink():
            yield path.relative_to(folder).as_posix()
