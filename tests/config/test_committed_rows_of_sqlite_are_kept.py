"""Threads of one process open and close connections to SQLite without any of them losing its locks (docs/adr/0034)."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROCESS = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "apps.config.settings"
import django
django.setup()
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("CREATE TABLE IF NOT EXISTS rows (number integer)")
connection.close()
print("closed", flush=True)
sys.stdin.read()
"""


def test_a_process_without_connections_still_keeps_others_from_removing_the_log(tmp_path: Path) -> None:
    env = {**os.environ, "DATA_DIR": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path}/lemmascope.sqlite3"}
    command = [sys.executable, "-c", PROCESS]
    with subprocess.Popen(command, env=env, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "closed\n"
        _insert(tmp_path)
        assert (tmp_path / "lemmascope.sqlite3-wal").exists()
        process.kill()
    _insert(tmp_path)
    assert not (tmp_path / "lemmascope.sqlite3-wal").exists(), "the log of a database that no process uses"


def _insert(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "lemmascope.sqlite3")) as database, database:
        database.execute("INSERT INTO rows VALUES (1)")
