"""An installation of version 0.1 keeps its data: its database is migrated, and its pages open as before.

`data/installed_0.1.sql.xz` was written by commit 6b6d219: the sample contest half marked, the worked example, a graded set with
an experiment, an uploaded file of points, prepared pieces, a scheme proposal and a training job.
"""

import json
import lzma
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SQL = Path(__file__).with_name("data") / "installed_0.1.sql.xz"
#: Rows that migrations and Django add.
GROWN = {"django_content_type", "auth_permission", "django_migrations", "sqlite_sequence"}
OPENED = {
    "home", "problems:detail", "schemes:detail", "contests:detail", "submissions:script", "marks:task", "marks:reveal",
    "office:results", "results:result", "explorations:run_detail", "explorations:run_replay", "explorations:call",
    "lemmas:graph", "lemmas:lemma_panel", "graders:detail", "graded_sets:detail", "graded_sets:script", "experiments:detail",
    "experiments:csv", "agreement:detail", "agreement:pairs", "preparation:prepare", "preparation:quality", "learning:job",
    "datasets:list", "operations:now",
}  # fmt: skip


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `every_page` found, and the rows before the migration."""
    folder = tmp_path_factory.mktemp("installed")
    with sqlite3.connect(folder / "lemmascope.sqlite3") as database:
        database.executescript(lzma.decompress(SQL.read_bytes()).decode())
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        before = {name: database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}
    env = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    env |= {"DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "apps.config.settings"}
    command = [sys.executable, "-m", "tests.deployment.every_page"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {"before": before, **json.loads(done.stdout)}


def test_no_row_is_lost(found: dict[str, Any]) -> None:
    kept = {name: rows for name, rows in found["before"].items() if name not in GROWN}
    assert kept["grading_experimentcell"] == 2
    assert {name: found["rows"].get(name) for name in kept} == kept


@pytest.mark.parametrize("user", ["researcher", "coach", "student", "admin"])
def test_every_page_that_links_lead_to_opens(found: dict[str, Any], user: str) -> None:
    pages = found["pages"][user]
    assert len(pages) >= 20
    assert {address: status for address, (_, status) in pages.items() if status >= 400} == {}


def test_the_pages_that_were_opened_cover_the_application(found: dict[str, Any]) -> None:
    opened = {name for pages in found["pages"].values() for name, status in pages.values() if status == 200}
    assert opened >= OPENED, OPENED - opened
