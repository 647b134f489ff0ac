"""PostgreSQL with its own programs: a restore undoes an upgrade, is all or nothing, and reports what prevents it."""

import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import psycopg
import pytest

from apps.operations.backups import postgres
from apps.operations.backups.databases import NotRestored
from apps.operations.backups.folders import BackupFailed
from apps.operations.backups.postgres import PostgresDatabase
from tests.flows.database import PostgresServer, server_programs
from tests.operations.installations import files_below, make, restore

pytestmark = [
    pytest.mark.skipif(server_programs() is None, reason="PostgreSQL is not installed"),
    pytest.mark.xdist_group("postgres of backups"),
]
OLD = """
CREATE TABLE django_migrations (id serial PRIMARY KEY, app text, name text);
INSERT INTO django_migrations (app, name) VALUES ('runs', '0001_initial');
CREATE TABLE fact (id bigserial PRIMARY KEY, body text NOT NULL);
INSERT INTO fact (body) SELECT 'row ' || n FROM generate_series(1, 5000) n;
"""
#: An upgrade: a new table, a required column, a changed type, a row of the new version.
UPGRADE = """
INSERT INTO django_migrations (app, name) VALUES ('runs', '0002_start_id');
CREATE TABLE extra (id serial PRIMARY KEY, fact bigint REFERENCES fact);
ALTER TABLE fact ADD COLUMN kind text NOT NULL DEFAULT 'new';
ALTER TABLE fact ALTER COLUMN body TYPE varchar(200);
INSERT INTO fact (body) VALUES ('of the new version');
INSERT INTO extra (fact) SELECT max(id) FROM fact;
"""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


class Empty:
    """An empty database on the server."""

    def __init__(self, server: PostgresServer) -> None:
        self.name = f"backup_{uuid.uuid4().hex[:10]}"
        self.address = server.url.removesuffix("/postgres") + f"/{self.name}"
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{self.name}"')
        host = unquote(server.url.removesuffix("/postgres").partition("@")[2])
        self.values: dict[str, Any] = {"NAME": self.name, "HOST": host, "USER": "lemmascope", "PASSWORD": "", "PORT": ""}
        self.values["OPTIONS"] = {"pool": {"max_size": 2}, "options": "-c statement_timeout=1"}
        self.database = PostgresDatabase(self.values)

    def run(self, statements: str) -> None:
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(statements)

    def columns(self) -> list[tuple[str, str, str]]:
        """The schema: table, column, type."""
        asked = """SELECT table_name, column_name, data_type FROM information_schema.columns
                   WHERE table_schema = 'public' ORDER BY 1, 2"""
        with psycopg.connect(self.address) as connection:
            return connection.execute(asked).fetchall()

    def facts(self) -> list[str]:
        with psycopg.connect(self.address) as connection:
            return [body for (body,) in connection.execute("SELECT body FROM fact ORDER BY id").fetchall()]


@pytest.fixture
def old(server: PostgresServer) -> Empty:
    found = Empty(server)
    found.run(OLD)
    return found


def test_a_restore_undoes_an_upgrade(server: PostgresServer, old: Empty, tmp_path: Path) -> None:
    schema, rows = old.columns(), old.facts()
    here, there, backup = tmp_path / "here", tmp_path / "there", tmp_path / "b.tar.zst"
    (here / "tokens").mkdir(parents=True)
    (here / "tokens" / "a.parquet").write_text("tokens")
    make(backup, old.database, here)
    old.run(UPGRADE)
    with pytest.raises(NotRestored, match=rf'holds 6 tables and sequences.*RENAME TO "{old.name}_aside"'):
        restore(backup, old.database, there)
    assert "of the new version" in old.facts()
    empty = Empty(server)
    restore(backup, empty.database, there)
    assert (empty.columns(), empty.facts()) == (schema, rows)
    assert list(files_below(there)) == ["tokens/a.parquet"]
    empty.run("INSERT INTO fact (body) VALUES ('next')")  # The sequence continues.
    assert len(empty.facts()) == 5001


def test_rows_committed_after_the_snapshot_are_not_in_it(server: PostgresServer, old: Empty, tmp_path: Path) -> None:
    with old.database.snapshot(tmp_path / "unused") as snapshot:
        old.run("INSERT INTO fact (body) VALUES ('later'); INSERT INTO django_migrations (app, name) VALUES ('runs', 'later')")
        dump = snapshot.dump.read()
    assert snapshot.migrations == {"runs": ["0001_initial"]}
    empty = Empty(server)
    empty.database.load(iter([dump]))
    assert len(empty.facts()) == 5000


def test_a_dump_that_ends_early_or_fails_is_rolled_back(server: PostgresServer, old: Empty, tmp_path: Path) -> None:
    with old.database.snapshot(tmp_path / "unused") as snapshot:
        dump = snapshot.dump.read()
    empty = Empty(server)
    with pytest.raises(NotRestored, match="everything was rolled back"):
        empty.database.load(iter([dump[:-4000]]))

    def broken() -> Iterator[bytes]:
        yield dump[: len(dump) // 2]
        raise OSError("the archive cannot be read")

    with pytest.raises(OSError, match="archive"):
        empty.database.load(broken())
    assert empty.columns() == []
    empty.database.load(iter([dump]))
    assert len(empty.facts()) == 5000


def test_a_database_in_use_and_missing_programs_are_reported(
    server: PostgresServer, old: Empty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = Empty(server)
    with psycopg.connect(empty.address) as connection:
        assert "is used from this machine. Stop what uses it" in empty.database.why_not_empty()
        threading.Timer(0.5, connection.close).start()
        assert empty.database.why_not_empty() == ""
    with pytest.raises(BackupFailed, match="has no tables yet"):
        make(tmp_path / "b", empty.database, tmp_path)
    with pytest.raises(BackupFailed, match=r"does not answer.*No backup was written"):
        make(tmp_path / "b", PostgresDatabase(old.values | {"HOST": str(tmp_path)}), tmp_path)
    monkeypatch.setattr(postgres, "_installed", lambda *_: None)
    with pytest.raises(BackupFailed, match=r"pg_dump is not installed here.*postgresql-client-"):
        make(tmp_path / "b", old.database, tmp_path)
    monkeypatch.setattr(postgres, "_installed", lambda *_: "/bin/false")
    with pytest.raises(BackupFailed, match="pg_dump stopped"):
        make(tmp_path / "b", old.database, tmp_path)
    assert not (tmp_path / "b").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
