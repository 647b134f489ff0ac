"""Other users of the machine cannot read DATA_DIR: neither new files nor files that an older version left open."""

import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.config import private
from apps.config.private import ForeignFolder, data_folder_close, own_folder

ROOT = Path(__file__).resolve().parents[2]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A data folder of an older version, open to everybody."""
    folder = tmp_path / "data"
    for name in ("log", "run", "tokens/run-1", "training/models/small/deep", "notes of mine"):
        (folder / name).mkdir(parents=True)
    names = ("lemmascope.sqlite3", "lemmascope.sqlite3-wal", "log/web.log", "tokens/run-1/0.parquet",
             "training/models/small/deep/adapter.safetensors", "notes of mine/a.txt")  # fmt: skip
    for name in names:
        (folder / name).write_text("x")
    (folder / "training/run.sh").touch(0o755)
    for path in (folder, *folder.rglob("*")):
        path.chmod(mode(path) | (0o055 if path.is_dir() else 0o044))
    return folder


def test_files_that_an_older_version_left_open_are_closed_and_logged(old: Path, caplog: pytest.LogCaptureFixture) -> None:
    outside = old.parent / "outside"
    outside.write_text("x")
    outside.chmod(0o644)
    (old / "run/link").symlink_to(outside)
    found = data_folder_close(old)
    for path in (old, *old.rglob("*")):
        if "notes of mine" not in str(path) and not path.is_symlink():
            assert mode(path) & 0o077 == 0, path
    assert mode(old / "training/run.sh") == 0o700
    assert (mode(old / "notes of mine/a.txt"), mode(outside)) == (0o644, 0o644)
    assert found.closed >= 14
    assert "was open to other users" in caplog.text
    caplog.clear()
    assert data_folder_close(old) == private.Closed()
    assert caplog.text == ""


def test_files_that_disappear_meanwhile_stop_no_process(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trainer renames unfinished files while another process starts."""
    listed = Path.iterdir

    def gone(folder: Path) -> Iterator[Path]:
        found = list(listed(folder))
        for path in found:
            if path.is_file():
                path.unlink()
        return iter(found)

    monkeypatch.setattr(Path, "iterdir", gone)
    assert data_folder_close(old).closed > 0


def test_a_folder_that_all_users_share_stays_open_and_is_logged(old: Path, caplog: pytest.LogCaptureFixture) -> None:
    old.chmod(0o1777)
    assert data_folder_close(old).still_open == 1
    assert mode(old) == 0o1777
    assert mode(old / "lemmascope.sqlite3") == 0o600
    assert "set DATA_DIR" in caplog.text


def test_a_missing_folder_is_accepted(tmp_path: Path) -> None:
    assert data_folder_close(tmp_path / "nothing") == private.Closed()


def test_the_folder_of_the_socket_must_belong_to_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_folder(tmp_path / "run")
    assert mode(tmp_path / "run") == 0o700
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(ForeignFolder, match="another user"):
        own_folder(tmp_path / "run")


def test_a_command_writes_its_database_for_its_owner_only(tmp_path: Path) -> None:
    code = "import sys; sys.argv = ['manage.py', 'migrate', '--plan', '-v0']; import manage, os; os.umask(0o022); manage.main()"
    data = tmp_path / "data"
    env = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env | {"DATA_DIR": str(data)}, check=True, capture_output=True)
    assert mode(data) == 0o700
    files = [path for path in data.rglob("*") if path.is_file()]
    assert "lemmascope.sqlite3" in {path.name for path in files}
    assert {mode(path) for path in files} == {0o600}


@pytest.mark.parametrize(
    "name", ["manage", "apps/config/asgi", "apps/config/orchestrator", "apps/config/trainer", "workers/worker"]
)
def test_every_process_sets_its_umask(name: str) -> None:
    assert re.search(r"^ *umask_set\(", (ROOT / f"{name}.py").read_text(), re.MULTILINE)


def test_static_files_are_built_for_all_users(monkeypatch: pytest.MonkeyPatch) -> None:
    set_to: list[int] = []
    monkeypatch.setattr(os, "umask", set_to.append)
    for command in ("collectstatic", "vendor_assets", "migrate", ""):
        private.umask_set(command)
    assert set_to == [0o077, 0o077]


def test_all_our_entries_in_the_folder_are_listed() -> None:
    found = {
        name
        for path in (ROOT / "apps").rglob("*.py")
        for name in re.findall(r"DATA_DIR\)? / [\"']([\w.]+)[\"']", path.read_text())
    }
    assert {"tokens", "datasets", "training", "log"} <= found
    assert {name for name in found if not any(Path(name).match(part) for part in private.PARTS)} == set()
