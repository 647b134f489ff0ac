"""The newest of the numbered folders that a training job writes."""

from pathlib import Path
from typing import NamedTuple


class Version(NamedTuple):
    """One version. `key` also names the job and the time of writing: other jobs, and resumed ones, use a number again."""

    key: str
    path: Path
    number: int

    @property
    def revision(self) -> str:
        """How records name it."""
        return f"policy/{self.number}"


def newest_version(followed: Path) -> Version | None:
    """The newest version in a followed folder, which is a link to that of a job; None before the first."""
    folder = followed.resolve()
    number = max((int(path.name) for path in folder.glob("[0-9]*") if path.name.isdecimal()), default=None)
    if number is None:
        return None
    try:
        made = (folder / str(number)).stat().st_mtime_ns
    except FileNotFoundError:
        return newest_version(followed)
    return Version(f"{folder.parent.name}/{number}.{made}", folder / str(number), number)
