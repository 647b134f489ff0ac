"""Consistent copies of a database in use, and their restore into an empty one. This module has SQLite."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from apps.operations.backups.folders import BackupFailed

Migrations = dict[str, list[str]]
"""Names of applied migrations by app."""
APPLIED = "SELECT app, name FROM django_migrations ORDER BY app, name"


class NotRestored(Exception):
    """Nothing was restored. The text says why and what to do."""


@dataclass(frozen=True)
class Snapshot:
    """The database at one moment. `size` in bytes; an estimate for PostgreSQL."""

    dump: IO[bytes]
    size: int
    migrations: Migrations


class Database(Protocol):
    """A database that can be backed up and restored."""

    vendor: str

    def snapshot(self, scratch: Path) -> AbstractContextManager[Snapshot]:
        """Dump the current state; `scratch` is the path of a temporary file. Raises `BackupFailed`."""

    def why_not_empty(self) -> str:
        """What a restore would overwrite, and how to move it aside; empty for an empty database. Raises `NotRestored`."""

    def load(self, parts: Iterator[bytes]) -> None:
        """Restore a dump of this vendor completely or not at all. Raises `NotRestored`, and errors of `parts`."""


def migrations_of(rows: list[tuple[str, str]]) -> Migrations:
    """Group rows of `APPLIED` by app."""
    found: Migrations = {}
    for app, name in rows:
        found.setdefault(app, []).append(name)
    return found


def database_of(values: dict[str, Any]) -> Database:
    """The database of Django's settings."""
    if values["ENGINE"].endswith("sqlite3"):
        return SqliteDatabase(Path(values["NAME"]))
    from apps.operations.backups.postgres import PostgresDatabase

    return PostgresDatabase(values)


class SqliteDatabase:
    """A file in WAL mode. SQLite's online backup copies one consistent state during writes; a file copy would not."""

    vendor = "sqlite"

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def snapshot(self, scratch: Path) -> Iterator[Snapshot]:
        if not self.path.exists():
            raise BackupFailed(f"There is no database {self.path}. Check DATA_DIR. `make up` creates a new database.")
        scratch.write_bytes(b"")
        try:
            migrations = self._copy_to(scratch)
            with scratch.open("rb") as file:
                yield Snapshot(file, scratch.stat().st_size, migrations)
        finally:
            for path in _database_files(scratch):
                path.unlink(missing_ok=True)

    def _copy_to(self, target: Path) -> Migrations:
        try:
            address = f"{self.path.absolute().as_uri()}?mode=rw"
            with closing(sqlite3.connect(address, uri=True, timeout=60)) as source, closing(sqlite3.connect(target)) as copy:
                source.backup(copy)
                return migrations_of(copy.execute(APPLIED).fetchall())
        except sqlite3.Error as error:
            if "no such table" in str(error):
                raise BackupFailed(f"{self.path} has no tables yet. `make up` creates them.") from error
            raise BackupFailed(f"The database {self.path} cannot be copied ({error}). No backup was written.") from error

    def why_not_empty(self) -> str:
        found = [path.name for path in _database_files(self.path) if path.exists() and path.stat().st_size]
        if not found:
            return ""
        folder = self.path.parent
        return (
            f"{folder} holds a database: {', '.join(found)}. To keep it, stop everything and move the whole folder "
            f"aside, so that the files stay together: mv {folder} {folder}-aside"
        )

    def load(self, parts: Iterator[bytes]) -> None:
        partial = self.path.with_name(f".{self.path.name}.partial")
        try:
            with partial.open("wb") as file:
                for part in parts:
                    file.write(part)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(self.path)
        except OSError as error:
            raise NotRestored(f"The database cannot be written ({error.strerror}). Nothing was restored.") from error
        finally:
            with suppress(FileNotFoundError):
                partial.unlink()


def _database_files(path: Path) -> list[Path]:
    """All files of an SQLite database, with its logs."""
    return [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm", "-journal")]
