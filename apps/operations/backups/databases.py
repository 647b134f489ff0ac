"""A consistent copy of the database while it is in use, and how it comes back into an empty one. SQLite here."""

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
    """Nothing was restored; the text says why and what to do."""


@dataclass(frozen=True)
class Snapshot:
    """The database at one moment. `size` in bytes is an estimate where `is_exact` is false."""

    dump: IO[bytes]
    size: int
    migrations: Migrations


class Database(Protocol):
    """What backup and restore ask of a database."""

    vendor: str

    def snapshot(self, beside: Path) -> AbstractContextManager[Snapshot]:
        """The database as it is now; `beside` names a file that may be made meanwhile. Raises `BackupFailed`."""

    def why_not_empty(self) -> str:
        """What a restore would overwrite, and how to put it aside; empty where there is nothing. Raises `NotRestored`."""

    def load(self, parts: Iterator[bytes]) -> None:
        """Restore a dump of this vendor, all of it or nothing. Raises `NotRestored`, and what `parts` raises."""


def migrations_of(rows: list[tuple[str, str]]) -> Migrations:
    """Rows of `APPLIED` by app."""
    found: Migrations = {}
    for app, name in rows:
        found.setdefault(app, []).append(name)
    return found


def database_of(values: dict[str, Any]) -> Database:
    """The database that Django's settings name."""
    if values["ENGINE"].endswith("sqlite3"):
        return SqliteDatabase(Path(values["NAME"]))
    from apps.operations.backups.postgres import PostgresDatabase

    return PostgresDatabase(values)


class SqliteDatabase:
    """A file in WAL mode. SQLite's online backup reads one moment of it while others write; copying the file would not."""

    vendor = "sqlite"

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def snapshot(self, beside: Path) -> Iterator[Snapshot]:
        if not self.path.exists():
            raise BackupFailed(f"There is no database {self.path}. Is DATA_DIR right? `make up` makes a new one.")
        beside.write_bytes(b"")
        try:
            migrations = self._copy_to(beside)
            with beside.open("rb") as file:
                yield Snapshot(file, beside.stat().st_size, migrations)
        finally:
            for path in _with_company(beside):
                path.unlink(missing_ok=True)

    def _copy_to(self, target: Path) -> Migrations:
        try:
            address = f"{self.path.absolute().as_uri()}?mode=rw"
            with closing(sqlite3.connect(address, uri=True, timeout=60)) as source, closing(sqlite3.connect(target)) as copy:
                source.backup(copy)
                return migrations_of(copy.execute(APPLIED).fetchall())
        except sqlite3.Error as error:
            if "no such table" in str(error):
                raise BackupFailed(f"{self.path} has no tables yet. `make up` makes them.") from error
            raise BackupFailed(f"The database {self.path} cannot be copied ({error}). There is no backup.") from error

    def why_not_empty(self) -> str:
        found = [path.name for path in _with_company(self.path) if path.exists() and path.stat().st_size]
        if not found:
            return ""
        folder = self.path.parent
        return (
            f"{folder} holds a database: {', '.join(found)}. To keep it, stop everything and move the whole folder "
            f"aside, so that the files stay together: mv {folder} {folder}-aside"
        )

    def load(self, parts: Iterator[bytes]) -> None:
        beside = self.path.with_name(f".{self.path.name}.partial")
        try:
            with beside.open("wb") as file:
                for part in parts:
                    file.write(part)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self.path)
        except OSError as error:
            raise NotRestored(f"The database cannot be written ({error.strerror}). Nothing was restored.") from error
        finally:
            with suppress(FileNotFoundError):
                beside.unlink()


def _with_company(path: Path) -> list[Path]:
    """The files of an SQLite database: a log beside it belongs to it and to no other."""
    return [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm", "-journal")]
