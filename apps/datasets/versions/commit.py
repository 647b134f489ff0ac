"""Commit of the code, read from the repository's files: git itself need not be installed."""

from pathlib import Path

from django.conf import settings

UNKNOWN = "unknown"


def git_commit() -> str:
    """Commit of the code; “unknown” outside a repository."""
    try:
        return _commit(Path(settings.BASE_DIR) / ".git") or UNKNOWN
    except OSError:
        return UNKNOWN


def _commit(place: Path) -> str:
    """Commit that is checked out, or empty. Raises OSError."""
    folder = place
    if place.is_file():  # A worktree or a submodule names its folder here.
        folder = place.parent / place.read_text().strip().removeprefix("gitdir: ")
    head = (folder / "HEAD").read_text().strip()
    if not head.startswith("ref: "):
        return head
    name = head.removeprefix("ref: ")
    common = folder / "commondir"
    shared = folder / common.read_text().strip() if common.exists() else folder  # Branches are shared by all worktrees.
    if (shared / name).exists():
        return (shared / name).read_text().strip()
    packed = (shared / "packed-refs").read_text().splitlines()
    return next((line.split()[0] for line in packed if line.endswith(f" {name}")), "")
