"""On PostgreSQL a statement ends after `DATABASE_STATEMENT_S`, so no page and no frozen process blocks it for long."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.database import PostgresServer, server_programs

pytestmark = pytest.mark.skipif(server_programs() is None, reason="PostgreSQL is not installed")
ROOT = Path(__file__).resolve().parents[2]
SLEEP = """
import django
django.setup()
from django.db import OperationalError, connection
with connection.cursor() as cursor:
    try:
        cursor.execute("SELECT pg_sleep(0.5)")
        print("done")
    except OperationalError as error:
        print(error)
    cursor.execute("SHOW statement_timeout")
    print(cursor.fetchone()[0])
"""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


def _slept(server: PostgresServer, tmp_path: Path, **more: str) -> list[str]:
    own = {"DATABASE_URL": server.url, "DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "apps.config.settings"}
    done = subprocess.run(
        [sys.executable, "-c", SLEEP],
        env=os.environ | own | more,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_statement_beyond_the_limit_is_ended_and_the_connection_survives(server: PostgresServer, tmp_path: Path) -> None:
    output = _slept(server, tmp_path, DATABASE_STATEMENT_S="0.1")
    assert "statement timeout" in output[0]
    assert output[-1] == "100ms"


def test_the_limit_is_30_seconds_and_can_be_disabled(server: PostgresServer, tmp_path: Path) -> None:
    assert _slept(server, tmp_path) == ["done", "30s"]
    assert _slept(server, tmp_path, DATABASE_STATEMENT_S="0") == ["done", "0"]
