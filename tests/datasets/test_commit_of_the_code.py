"""The commit in manifests is that of the repository, of a worktree of it, or “unknown”."""

import shutil
import subprocess
from pathlib import Path

import pytest
from pytest_django import Settings

from apps.datasets.versions.commit import git_commit

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@needs_git
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("words", [(), ("--detach",)])
def test_repositories_and_worktrees_have_their_own_commit(
    settings: Settings, tmp_path: Path, packed: bool, words: tuple[str, ...]
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    git(first, "init", "-b", "main")
    git(first, "commit", "--allow-empty", "-m", "One")
    git(first, "worktree", "add", *(words or ("-b", "branch")), str(second))
    git(second, "commit", "--allow-empty", "-m", "Two")
    if packed:
        git(first, "pack-refs", "--all")
    commits = {folder: git(folder, "rev-parse", "HEAD") for folder in (first, second)}
    assert len(set(commits.values())) == 2
    for folder, commit in commits.items():
        settings.BASE_DIR = folder
        assert git_commit() == commit


@pytest.mark.parametrize("content", [None, "gitdir: /gone\n", ""])
def test_without_a_repository_the_commit_is_unknown(settings: Settings, tmp_path: Path, content: str | None) -> None:
    settings.BASE_DIR = tmp_path
    if content is not None:
        (tmp_path / ".git").write_text(content)
    assert git_commit() == "unknown"
