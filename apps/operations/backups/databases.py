"""Consistent copies of a database in use, and their restore into an empty one. Each vendor has its module."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

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
