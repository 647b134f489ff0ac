"""The database of this installation."""

from pathlib import Path
from typing import Any

from apps.operations.backups.databases import Database
from apps.operations.backups.postgres import PostgresDatabase
from apps.operations.backups.sqlite import SqliteDatabase


def database_of(values: dict[str, Any]) -> Database:
    """The database of Django's settings."""
    if values["ENGINE"].endswith("sqlite3"):
        return SqliteDatabase(Path(values["NAME"]))
    return PostgresDatabase(values)
