"""A rival whose environment cannot be created is skipped with the reason. An existing environment is reused."""

import subprocess
from pathlib import Path

import pytest

from benchmarks.figures import Skipped
from benchmarks.rivals import servers


def test_it_is_skipped_with_the_error_of_pip(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(command: list[str], **_: object) -> None:
        raise subprocess.CalledProcessError(1, command, stderr=b"No matching distribution found for gradio")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(subprocess, "run", fail)
    with pytest.raises(Skipped, match=r"gradio cannot be installed here .*No matching distribution"):
        servers.environment("gradio")


def test_it_is_installed_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commands: list[list[str]] = []

    def note(command: list[str], **_: object) -> None:
        commands.append(command)
        if "venv" in command:
            Path(command[-1]).mkdir(parents=True)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(subprocess, "run", note)
    first = servers.environment("chainlit")
    assert servers.environment("chainlit") == first
    assert len(commands) == 2
    assert commands[1][-1].endswith("rivals-chainlit.txt")
