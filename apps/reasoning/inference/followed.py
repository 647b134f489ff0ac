"""Adapters that follow a training job: their folder in models.toml ends in `/*`, for the newest numbered folder in it."""

from pathlib import Path

NEWEST = "/*"


def followed_folder(adapter: str) -> Path | None:
    """The folder of a job's versions; None for an adapter that is one folder."""
    return Path(adapter.removesuffix(NEWEST)).expanduser() if adapter.endswith(NEWEST) else None
