"""A truncated, changed, newer or foreign file is rejected with a reason before anything is written."""

import io
import json
import shutil
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard

from apps.operations.backups.archive import END, ArchiveError, members_read
from apps.operations.backups.databases import NotRestored
from apps.operations.backups.sqlite import SqliteDatabase
from tests.operations.installations import facts, files_below, make, restore, sqlite_in

Change = Callable[[str, bytes], bytes]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("here")
    database = sqlite_in(here, "0001_initial", "0002_start_id")
    (here / "tokens").mkdir()
    (here / "tokens" / "a.parquet").write_bytes(bytes(range(256)) * 4000)
    make(here / "b.tar.zst", database, here)
    return here / "b.tar.zst"


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Path]:
    """An empty installation, which must stay empty."""
    folder = tmp_path / "there"
    folder.mkdir()
    yield folder
    assert list(files_below(folder)) == []


def changed(whole: Path, target: Path, change: Change) -> Path:
    """A valid archive of the same members, some of them changed."""
    packed = io.BytesIO()
    with tarfile.open(mode="w|", fileobj=packed) as tar:
        for member in members_read(whole):
            data = change(member.name, member.data.read())
            entry = tarfile.TarInfo(member.name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    target.write_bytes(zstandard.compress(packed.getvalue()) + END)
    return target


def assert_rejected(source: Path, there: Path, words: str) -> None:
    with pytest.raises((ArchiveError, NotRestored), match=words):
        restore(source, SqliteDatabase(there / "lemmascope.sqlite3"), there)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.9, 0.999, 0.9999999])
def test_a_truncated_file_is_rejected(whole: Path, there: Path, tmp_path: Path, share: float) -> None:
    data = whole.read_bytes()
    (tmp_path / "cut").write_bytes(data[: int(len(data) * share)])
    assert_rejected(tmp_path / "cut", there, "cut off|is no backup")


def test_a_file_with_a_changed_byte_is_rejected(whole: Path, there: Path, tmp_path: Path) -> None:
    data = bytearray(whole.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "flipped").write_bytes(data)
    assert_rejected(tmp_path / "flipped", there, "damaged|cut off")


def test_a_member_with_a_wrong_checksum_is_rejected(whole: Path, there: Path, tmp_path: Path) -> None:
    def change(name: str, data: bytes) -> bytes:
        return data[:-1] + b"!" if name == "files/tokens/a.parquet" else data

    assert_rejected(changed(whole, tmp_path / "changed", change), there, "checksum of files/tokens/a.parquet is wrong")


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 a zip", zstandard.compress(b"no tar" * 100)])
def test_a_file_that_is_no_backup_is_rejected(there: Path, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "other").write_bytes(data)
    assert_rejected(tmp_path / "other", there, "no backup")
    assert_rejected(tmp_path / "missing", there, "No such file")
    assert_rejected(tmp_path, there, "Is a directory")


def test_a_foreign_tar_file_is_rejected(there: Path, tmp_path: Path, whole: Path) -> None:
    assert_rejected(changed(whole, tmp_path / "x", lambda name, data: data[:0]), there, "header that cannot be read")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"format": 2, "application": "9.0.0"}, "made by Lemmascope 9.0.0 in format 2; this version reads 1"),
        (
            {"application": "9.0.0", "migrations": {"runs": ["0001_initial", "0099_new"]}},
            "runs.0099_new. Install 9.0.0 or newer",
        ),
        ({"vendor": "postgresql"}, "backup of PostgreSQL, and this installation uses SQLite: set DATABASE_URL"),
    ],
)
def test_a_backup_of_a_newer_version_or_another_database_is_rejected(
    whole: Path, there: Path, tmp_path: Path, values: dict[str, object], words: str
) -> None:
    def change(name: str, data: bytes) -> bytes:
        return json.dumps(json.loads(data) | values).encode() if name == "header.json" else data

    assert_rejected(changed(whole, tmp_path / "newer", change), there, words)


@pytest.mark.parametrize("name", ["../outside", "/etc/outside", "run/up.lock"])
def test_a_name_outside_the_installation_is_rejected(whole: Path, there: Path, tmp_path: Path, name: str) -> None:
    def change(member: str, data: bytes) -> bytes:
        listed = json.loads(data) if member == "manifest.json" else {}
        return json.dumps(listed | {"links": {"tokens/x": name}}).encode() if listed else data

    assert_rejected(changed(whole, tmp_path / "leading", change), there, "belongs to no installation")


def test_a_restore_leaves_a_used_installation_unchanged(whole: Path, tmp_path: Path) -> None:
    there = tmp_path / "there"
    database = sqlite_in(there, "0001_initial")
    (there / "tokens").mkdir()
    (there / "tokens" / "mine").write_text("mine")
    assert_rejected(whole, there, f"holds a database: lemmascope.sqlite3.* mv {there} {there}-aside")
    database.path.rename(there / "aside")
    (there / "lemmascope.sqlite3-wal").write_text("what was committed last")
    assert_rejected(whole, there, "lemmascope.sqlite3-wal")
    (there / "lemmascope.sqlite3-wal").unlink()
    assert_rejected(whole, there, f"{there} holds tokens. To keep them: mkdir")
    (tmp_path / "elsewhere").mkdir()
    (there / "tokens").rename(there / "kept")
    (there / "tokens").symlink_to(tmp_path / "elsewhere")
    assert_rejected(whole, there, f"{there} holds tokens. To keep them: mkdir")  # A link, even to an empty folder.
    (there / "tokens").unlink()
    (there / "kept").rename(there / "tokens")
    assert (there / "tokens" / "mine").read_text() == "mine"
    assert facts(SqliteDatabase(there / "aside")) == []


def test_a_restore_that_fails_half_way_is_undone(
    whole: Path, there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    database = sqlite_in(here, "0001_initial")
    (here / "secret_key").write_text("of the backup")
    with_key = tmp_path / "with_key.tar.zst"
    make(with_key, database, here)

    def fail(self: SqliteDatabase, parts: Iterator[bytes]) -> None:
        assert next(parts)
        raise OSError(28, "No space left on device", "lemmascope.sqlite3")

    with monkeypatch.context() as patched:
        patched.setattr(SqliteDatabase, "load", fail)
        assert_rejected(whole, there, "No space left on device: lemmascope.sqlite3")
        (there / "secret_key").write_text("mine")
        assert_rejected(with_key, there, "No space left on device: lemmascope.sqlite3")
        assert (there / "secret_key").read_text() == "mine", "the earlier database needs it for its sessions"
        (there / "secret_key").unlink()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1000}))
    assert_rejected(whole, there, "has 0.0 GB free, and the backup needs 0.0 GB")
