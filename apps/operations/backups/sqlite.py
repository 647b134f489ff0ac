"""Backups of SQLite."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from apps.operations.backups.databases import APPLIED, Migrations, NotRestored, Snapshot, migrations_of
from apps.operations.backups.folders import BackupFailed


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
