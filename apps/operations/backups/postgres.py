"""Backup of PostgreSQL with `pg_dump` from an exported snapshot, and restore with `pg_restore` in one transaction."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import psycopg
from django.db.backends.postgresql.client import DatabaseClient

from apps.operations.backups.databases import APPLIED, Migrations, NotRestored, Snapshot, migrations_of
from apps.operations.backups.folders import BackupFailed

_RELATIONS = """
SELECT count(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND nspname !~ '^pg_' AND nspname <> 'information_schema'
"""
_OTHERS = """
SELECT pid, coalesce(host(client_addr), 'this machine') FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
#: Time in seconds for which the server may still list a closed connection.
_CLOSING_S = 2.0
#: Options for web pages. They do not fit a dump, which may take hours.
_OF_PAGES = ("pool", "options")


class PostgresDatabase:
    """A database that PostgreSQL's client programs reach with the values of Django's settings."""

    vendor = "postgresql"

    def __init__(self, values: dict[str, Any]) -> None:
        self._name = str(values["NAME"])
        options = {name: value for name, value in values.get("OPTIONS", {}).items() if name not in _OF_PAGES}
        (_, *arguments, _), environment = DatabaseClient.settings_to_cmd_args_env({**values, "OPTIONS": options}, [])
        self._arguments = arguments
        self._environment = {**os.environ, **(environment or {}), "PGAPPNAME": "lemmascope backup"}
        given = {"host": values.get("HOST"), "port": values.get("PORT"), "user": values.get("USER")}
        given |= {"password": values.get("PASSWORD"), "dbname": self._name}
        self._connection = {**{name: value for name, value in given.items() if value}, **options}

    @contextmanager
    def snapshot(self, scratch: Path) -> Iterator[Snapshot]:
        """The transaction that exports the snapshot stays open until the dump ends. `scratch` is not used."""
        try:
            with psycopg.connect(**self._connection) as connection:
                connection.isolation_level, connection.read_only = psycopg.IsolationLevel.REPEATABLE_READ, True
                connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
                migrations = self._migrations(connection)
                (exported,) = connection.execute("SELECT pg_export_snapshot()").fetchone() or ("",)
                (size,) = connection.execute("SELECT pg_database_size(current_database())").fetchone() or (0,)
                with self._dumping(self._program("pg_dump", connection), exported) as dump:
                    yield Snapshot(dump, size, migrations)
        except psycopg.Error as error:
            raise BackupFailed(f"The database does not answer ({_first_line(error)}). No backup was written.") from error
        except _ProgramMissing as error:
            raise BackupFailed(f"{error} No backup was written.") from error

    def _migrations(self, connection: "psycopg.Connection[Any]") -> Migrations:
        try:
            return migrations_of(connection.execute(APPLIED).fetchall())
        except psycopg.errors.UndefinedTable as error:
            raise BackupFailed(f"The database {self._name} has no tables yet. `manage.py migrate` creates them.") from error

    @contextmanager
    def _dumping(self, program: str, exported: str) -> Iterator[IO[bytes]]:
        command = [program, *self._arguments, "--format=custom", "--compress=0", "--no-owner", "--no-privileges"]
        command += [f"--snapshot={exported}", self._name]
        with tempfile.TemporaryFile() as errors:
            dumping = subprocess.Popen(command, env=self._environment, stdout=subprocess.PIPE, stderr=errors)  # noqa: S603
            try:
                yield dumping.stdout  # type: ignore[misc]
                if dumping.wait():
                    raise BackupFailed(f"pg_dump stopped: {_last_lines(errors)} No backup was written.")
            finally:
                dumping.kill()
                dumping.wait()
                if dumping.stdout is not None:
                    dumping.stdout.close()

    def why_not_empty(self) -> str:
        try:
            with psycopg.connect(**self._connection) as connection:
                (relations,) = connection.execute(_RELATIONS).fetchone() or (0,)
                others = [] if relations else _others(connection)
                self._program("pg_restore", connection)
        except psycopg.Error as error:
            raise NotRestored(f"The database does not answer ({_first_line(error)}). Nothing was restored.") from error
        except _ProgramMissing as error:
            raise NotRestored(f"{error} Nothing was restored.") from error
        if relations:
            return (
                f"The database {self._name} holds {relations} tables and sequences. To keep them, stop everything, then as its "
                f'owner or a superuser, connected to another database: ALTER DATABASE "{self._name}" RENAME TO '
                f'"{self._name}_aside"; CREATE DATABASE "{self._name}" OWNER …;'
            )
        if others:
            return (
                f"The database {self._name} is used from {', '.join(others)}. Stop what uses it, orchestrators on other "
                "machines too: they hold data that the restored database does not have."
            )
        return ""

    def load(self, parts: Iterator[bytes]) -> None:
        """`pg_restore` commits at the end of the dump, so a truncated dump is rolled back."""
        try:
            with psycopg.connect(**self._connection) as connection:
                program = self._program("pg_restore", connection)
        except (psycopg.Error, _ProgramMissing) as error:
            raise NotRestored(f"The database cannot be restored ({_first_line(error)}). Nothing was restored.") from error
        command = [program, *self._arguments, f"--dbname={self._name}", "--single-transaction", "--no-owner", "--no-privileges"]
        with tempfile.TemporaryFile() as errors:
            loading = subprocess.Popen(  # noqa: S603
                command, env=self._environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors
            )
            if loading.stdin is None:
                raise RuntimeError("pg_restore has no input")
            try:
                with suppress(BrokenPipeError):  # pg_restore stopped; its reason is read below.
                    for part in parts:
                        loading.stdin.write(part)
                    loading.stdin.close()
            except BaseException:
                loading.kill()
                raise
            finally:
                status = loading.wait()
                with suppress(BrokenPipeError):
                    loading.stdin.close()
            if status:
                raise NotRestored(f"pg_restore stopped and everything was rolled back: {_last_lines(errors)}")

    def _program(self, name: str, connection: "psycopg.Connection[Any]") -> str:
        """Path of a client program: of the server's version if installed, else from the path. Raises `_ProgramMissing`."""
        major = connection.info.server_version // 10_000
        if found := _installed(name, major):
            return found
        raise _ProgramMissing(
            f"{name} is not installed here. Install version {major} of PostgreSQL's client programs "
            f"(Debian: postgresql-client-{major}; with Docker Compose the service `backup` has them)."
        )


def _installed(name: str, major: int) -> str | None:
    own = Path(f"/usr/lib/postgresql/{major}/bin/{name}")
    return str(own) if own.exists() else shutil.which(name)


class _ProgramMissing(Exception):
    """A client program of PostgreSQL is not installed."""


def _others(connection: "psycopg.Connection[Any]") -> list[str]:
    """Hosts with open connections to this database. Wait at most `_CLOSING_S` for connections to close."""
    first = found = connection.execute(_OTHERS).fetchall()
    until = time.monotonic() + _CLOSING_S
    while set(first) & set(found) and time.monotonic() < until:
        time.sleep(0.1)
        connection.execute("SELECT pg_stat_clear_snapshot()")
        found = connection.execute(_OTHERS).fetchall()
    return sorted({host for _, host in found})


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _last_lines(file: IO[bytes]) -> str:
    """The last lines of a program's output."""
    file.seek(0)
    lines = file.read().decode(errors="replace").strip().splitlines()
    return " ".join(lines[-3:]) or "it printed no reason."
