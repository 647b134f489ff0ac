"""Files in memory are limited by the size of /tmp, and no other mount of bubblewrap takes any."""

from pathlib import Path

import pytest

from workers.sandbox.environment import Environment
from workers.sandbox.execution import Limits
from workers.sandbox.fences import fenced

KINDS = {"of the system": "/usr", "outside /usr": "/opt/an-interpreter", "of /usr/local": "/usr/local"}


@pytest.mark.parametrize("prefix", KINDS.values(), ids=KINDS)
def test_every_tmpfs_has_a_size_and_only_tmp_can_be_written(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.sandbox.fences.shutil.which", lambda name: "/usr/bin/bwrap")
    monkeypatch.setattr("workers.sandbox.fences.Path.is_dir", lambda self: True)
    root = Path(prefix)
    library = root / "lib" / "python3.11"
    environment = Environment(root / "bin" / "python3.11", root, library, Path("/srv/site"), "3.11.7", ())
    command = list(fenced("bubblewrap", environment, Limits(scratch_bytes=8192)).command)
    mounts = [at for at, part in enumerate(command) if part == "--tmpfs"]
    assert len(mounts) >= 2
    for at in mounts:
        folder = command[at + 1]
        assert command[at - 2] == "--size", folder
        assert int(command[at - 1]) <= 8192
        is_shut = ["--remount-ro", folder] in [command[i : i + 2] for i in range(at, len(command))]
        assert is_shut == (folder != "/tmp")
