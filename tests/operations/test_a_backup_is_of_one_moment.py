"""A backup holds the database at one moment despite writes, every file that its rows name, and no partial file."""

import re
import resource
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from apps.operations.backups import making
from apps.operations.backups.folders import FOLDERS, SECRET_KEY, BackupFailed, Listing, files_list
from apps.operations.backups.sqlite import SqliteDatabase
from apps.processes.file_locks import deletion_lock, file_lock
from tests.operations.installations import facts, files_below, make, restore, sqlite_in

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return tmp_path / "here"


def test_transactions_during_a_backup_are_copied_completely_or_not_at_all(here: Path, tmp_path: Path) -> None:
    """Each transaction writes ten rows; most of them are in the write-ahead log, which a copy of the file would lose."""
    database = sqlite_in(here, "0001_initial")
    stop, begun = threading.Event(), threading.Event()

    def write() -> None:
        with closing(sqlite3.connect(database.path, timeout=30)) as connection:
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            number = 0
            while not stop.is_set() or number < 20:
                with connection:
                    connection.executemany("INSERT INTO fact (body) VALUES (?)", [(f"{number}",)] * 10)
                number += 1
                if number == 20:
                    begun.set()

    writer = threading.Thread(target=write)
    writer.start()
    assert begun.wait(60)
    make(tmp_path / "b.tar.zst", database, here)
    stop.set()
    writer.join()
    restored = SqliteDatabase(tmp_path / "there" / "lemmascope.sqlite3")
    restore(tmp_path / "b.tar.zst", restored, tmp_path / "there")
    found = facts(restored)
    assert 200 <= len(found) <= len(facts(database))
    assert found == [str(number) for number in range(len(found) // 10) for _ in range(10)]


def test_files_are_restored_unchanged_and_private(here: Path, tmp_path: Path) -> None:
    database = sqlite_in(here, "0001_initial")
    for name in ("tokens/run/a.parquet", "training/job/checkpoints/checkpoint-1/weights", "models/base/weights", "secret_key"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(name * 100)
    (here / "training/models/named").mkdir(parents=True)
    (here / "training/models/named/weights").hardlink_to(here / "training/job/checkpoints/checkpoint-1/weights")
    (here / "training/live").symlink_to(here / "training/job")
    (here / "tokens/run/out").symlink_to("/etc/hostname")
    for unfinished in ("tokens/run/.b.parquet.7.partial", "datasets/.making/x/rows", "log/web.log", "valkey/aof"):
        (here / unfinished).parent.mkdir(parents=True, exist_ok=True)
        (here / unfinished).write_text("no")
    made = make(tmp_path / "b.tar.zst", database, here)
    assert (made.files, made.left_out, made.gone) == (5, ["tokens/run/out"], [])
    assert (tmp_path / "b.tar.zst").stat().st_mode & 0o777 == 0o600
    there = tmp_path / "there"
    there.mkdir()
    (there / "secret_key").write_text("of the installation that was put aside")
    restore(tmp_path / "b.tar.zst", SqliteDatabase(there / "lemmascope.sqlite3"), there)
    assert (there / "secret_key.before-restore").read_text() == "of the installation that was put aside"
    (there / "secret_key.before-restore").unlink()
    assert set(files_below(there)) == {
        *("tokens/run/a.parquet", "training/job/checkpoints/checkpoint-1/weights", "models/base/weights", "secret_key"),
        *("training/models/named/weights", "training/live", "lemmascope.sqlite3"),
    }
    assert (there / "training/models/named/weights").samefile(there / "training/live/checkpoints/checkpoint-1/weights")
    assert (there / "models/base/weights").read_text() == "models/base/weights" * 100
    modes = {path: path.stat().st_mode & 0o777 for path in there.rglob("*") if not path.is_symlink()}
    assert {path for path, mode in modes.items() if mode & 0o077} == set()


def test_a_backup_without_weights_leaves_existing_weights_alone(here: Path, tmp_path: Path) -> None:
    database = sqlite_in(here, "0001_initial")
    for name in ("models/base/weights", "secret_key"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text("old")
    make(tmp_path / "b.tar.zst", database, here, "models")
    there = tmp_path / "there"
    for name in ("models/base/weights", "secret_key"):
        (there / name).parent.mkdir(parents=True, exist_ok=True)
        (there / name).write_text("new")
    restore(tmp_path / "b.tar.zst", SqliteDatabase(there / "lemmascope.sqlite3"), there, keep_key=True)
    assert (there / "models/base/weights").read_text() == (there / "secret_key").read_text() == "new"


def test_files_deleted_or_grown_during_a_backup_do_not_stop_it(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = sqlite_in(here, "0001_initial")
    job = here / "training" / "job"
    job.mkdir(parents=True)
    for name in ("checkpoint", "metrics.jsonl"):
        (job / name).write_text("1\n")

    def list_then_change(*args: object) -> Listing:
        found = files_list(*args)  # type: ignore[arg-type]
        (job / "checkpoint").unlink()
        (job / "metrics.jsonl").write_text("1\n2\n")
        (job / "manifest.json").write_text("whole")
        return found

    monkeypatch.setattr(making, "files_list", list_then_change)
    made = make(tmp_path / "b.tar.zst", database, here)
    assert made.gone == ["training/job/checkpoint"]
    restore(tmp_path / "b.tar.zst", SqliteDatabase(tmp_path / "there/lemmascope.sqlite3"), tmp_path / "there")
    assert {"training/job/metrics.jsonl", "lemmascope.sqlite3"} == set(files_below(tmp_path / "there"))
    assert (tmp_path / "there/training/job/metrics.jsonl").read_text() == "1\n2\n"


def test_a_full_disk_leaves_no_file_behind(here: Path, tmp_path: Path) -> None:
    """A file size limit of the kernel simulates a full disk."""
    database = sqlite_in(here, "0001_initial")
    (here / "tokens").mkdir()
    (here / "tokens" / "a.parquet").write_bytes(bytes(range(256)) * 20_000)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    target = tmp_path / "backups" / "b.tar.zst"
    target.parent.mkdir()
    resource.setrlimit(resource.RLIMIT_FSIZE, (16_384, hard))
    try:
        with pytest.raises(BackupFailed, match=r"cannot be (written|copied).*No backup was written"):
            make(target, database, here)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(target.parent.iterdir()) == []
    make(target, database, here)
    assert [path.name for path in target.parent.iterdir()] == ["b.tar.zst"]
    with pytest.raises(BackupFailed, match="already exists"):
        make(target, database, here)


def test_a_missing_database_empty_tables_and_deletions_prevent_a_backup(here: Path, tmp_path: Path) -> None:
    with pytest.raises(BackupFailed, match="There is no database"):
        make(tmp_path / "b.tar.zst", SqliteDatabase(here / "lemmascope.sqlite3"), here)
    with closing(sqlite3.connect(here / "lemmascope.sqlite3")) as connection:
        connection.execute("CREATE TABLE other (id INTEGER)")
    with pytest.raises(BackupFailed, match="has no tables yet"):
        make(tmp_path / "b.tar.zst", SqliteDatabase(here / "lemmascope.sqlite3"), here)
    with file_lock(deletion_lock(here)), pytest.raises(BackupFailed, match="Try again in a minute"):
        make(tmp_path / "b.tar.zst", SqliteDatabase(here / "lemmascope.sqlite3"), here)
    assert not (tmp_path / "b.tar.zst").exists()


def test_every_data_folder_is_backed_up_or_deliberately_left_out() -> None:
    source = "".join(path.read_text() for folder in ("apps", "workers") for path in (ROOT / folder).rglob("*.py"))
    used = set(re.findall(r"DATA_DIR\)? / \"([\w.-]+)\"", source)) | set(re.findall(r"\bdata / \"([\w.-]+)\"", source))
    databases = {"lemmascope.sqlite3", "test.sqlite3"}
    expendable = {"run", "log", "valkey"}
    assert len(used) > 5
    assert used - {*FOLDERS, *expendable, SECRET_KEY, *databases} == set()
