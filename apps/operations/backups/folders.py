"""Files of an installation outside the database: which of them a backup holds, and how they are restored.

Rows name files, and a file is always written before the row that names it. So a backup copies the database first and lists the
files afterwards: every row finds its file. All files are listed before the first is copied, so a completion marker, such as
trainers write last, is never in a backup without the other files.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from apps.operations.backups.archive import CHUNK_BYTES, FILES, ArchiveError, ArchiveWriter, Manifest, members_read

#: Weights that a person installed.
MODELS = "models"
#: Folders below the data folder.
FOLDERS = ("tokens", "datasets", "training", MODELS)
SECRET_KEY = "secret_key"  # noqa: S105  (the name of a file)
#: The key of the earlier installation, which keeps the sessions of its database valid.
KEY_BEFORE = "secret_key.before-restore"
#: Folder in which a restore prepares files.
STAGING = ".restoring"


@contextmanager
def private() -> Iterator[None]:
    """Make files and folders created in the block accessible to their owner only."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


class BackupFailed(Exception):
    """No backup was written. The text says why and what to do."""


@dataclass
class Listing:
    """Files to copy, by path below the data folder. `files`: sizes in bytes; `same`: hard links; `links`: symbolic links."""

    files: dict[str, int] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    #: Links to targets outside the data folder.
    left_out: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(self.files.values())


def files_list(data_dir: Path, without: frozenset[str]) -> Listing:
    """List the current files, without unfinished ones: names that end in `.partial` or begin with a dot."""
    found = Listing()
    first: dict[tuple[int, int], str] = {}
    tops = [data_dir / name for name in (*FOLDERS, SECRET_KEY) if name not in without]
    waiting = [path for path in reversed(tops) if path.exists()]
    while waiting:
        path = waiting.pop()
        name = path.relative_to(data_dir).as_posix()
        try:
            if path.is_symlink():
                _list_link(found, data_dir, path, name)
            elif path.is_dir():
                waiting += sorted((one for one in path.iterdir() if not _is_unfinished(one.name)), reverse=True)
            elif path.is_file():
                status = path.stat()
                known = first.setdefault((status.st_dev, status.st_ino), name) if status.st_nlink > 1 else name
                if known == name:
                    found.files[name] = status.st_size
                else:
                    found.same[name] = known
        except FileNotFoundError:
            continue
        except OSError as error:
            raise BackupFailed(f"{path} cannot be read ({error.strerror}). No backup was written.") from error
    return found


def _is_unfinished(name: str) -> bool:
    return name.startswith(".") or name.endswith(".partial")


def _list_link(found: Listing, data_dir: Path, path: Path, name: str) -> None:
    target = Path(os.path.normpath(path.parent / path.readlink()))
    if target.is_relative_to(data_dir.resolve()):
        found.links[name] = target.relative_to(data_dir.resolve()).as_posix()
    elif target.is_relative_to(data_dir):
        found.links[name] = target.relative_to(data_dir).as_posix()
    else:
        found.left_out.append(name)


def files_add(writer: ArchiveWriter, data_dir: Path, listing: Listing, report: Callable[[int], None]) -> list[str]:
    """Copy the listed files; return those deleted in the meantime. A growing file is copied up to its size when opened.

    Raises `BackupFailed` for an unreadable or truncated file, and `OSError` if the disk of the backup is full.
    """
    gone: set[str] = set()
    for name in listing.files:
        try:
            file = (data_dir / name).open("rb")
        except FileNotFoundError:
            gone.add(name)
            continue
        except OSError as error:
            raise BackupFailed(f"{data_dir / name} cannot be read ({error.strerror}). No backup was written.") from error
        with file:
            status = os.fstat(file.fileno())
            try:
                writer.add(FILES + name, file, status.st_size, mode=status.st_mode & 0o777, mtime=int(status.st_mtime))
            except OSError as error:
                if error.errno is not None:
                    raise
                raise BackupFailed(f"{data_dir / name} was truncated during the backup. Run the backup again.") from error
        report(status.st_size)
    writer.manifest.same = {name: first for name, first in listing.same.items() if first not in gone}
    writer.manifest.links = dict(listing.links)
    return sorted(gone | {name for name, first in listing.same.items() if first in gone})


def folders_of(manifest: Manifest) -> set[str]:
    """The data folders that a backup contains."""
    names = {name.removeprefix(FILES) for name in manifest.members if name.startswith(FILES)} | {
        *manifest.same,
        *manifest.links,
    }
    return {name.partition("/")[0] for name in names} & set(FOLDERS)


def folders_in_use(data_dir: Path, brought: set[str]) -> list[str]:
    """The folders of an installation that are not empty or are links, which no restored folder can replace.

    `models` counts only if the backup contains it.
    """
    asked = [name for name in FOLDERS if name != MODELS or name in brought]
    return [name for name in asked if _is_in_use(data_dir / name)]


def _is_in_use(folder: Path) -> bool:
    return folder.is_symlink() or (folder.is_dir() and any(folder.iterdir()))


def files_extract(source: Path, manifest: Manifest, data_dir: Path, keep_key: bool, report: Callable[[int], None]) -> Path:
    """Write all files of a verified backup below `data_dir/.restoring`; return that folder.

    With `keep_key` the secret key is left out. Raises `ArchiveError` and `OSError`.
    """
    staging = data_dir / STAGING
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir()
    for member in members_read(source):
        name = member.name.removeprefix(FILES)
        if not member.name.startswith(FILES) or (keep_key and name == SECRET_KEY):
            continue
        target = _below(staging, name)
        with target.open("xb") as file:
            while data := member.data.read(CHUNK_BYTES):
                file.write(data)
                report(len(data))
        target.chmod(member.mode & 0o700)
        os.utime(target, (member.mtime, member.mtime))
    for name, first in manifest.same.items():
        _below(staging, name).hardlink_to(_below(staging, first))
    for name, goal in manifest.links.items():
        _below(staging, name).symlink_to(_below(data_dir, goal, make=False))
    return staging


def _below(folder: Path, name: str, *, make: bool = True) -> Path:
    """The path of `name` below `folder`; creates its parent. Raises `ArchiveError` for a name outside the known folders."""
    path = Path(name)
    if path.is_absolute() or ".." in path.parts or path.parts[:1] not in [(one,) for one in (*FOLDERS, SECRET_KEY)]:
        raise ArchiveError(f"The backup holds {name}, which belongs to no installation. Nothing was restored.")
    if make:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
    return folder / path


def files_place(staging: Path, data_dir: Path) -> None:
    """Move the prepared files into place, each with one rename. Keep an earlier secret key as `KEY_BEFORE`."""
    for path in sorted(staging.iterdir()):
        target = data_dir / path.name
        if path.name == SECRET_KEY and target.exists():
            target.replace(data_dir / KEY_BEFORE)
        if target.is_dir():
            target.rmdir()  # Empty, as checked by `folders_in_use`.
        path.replace(target)
    staging.rmdir()


def files_take_back(data_dir: Path, brought: set[str]) -> None:
    """Undo `files_place` and `files_extract` after a failed restore of the database."""
    for name in (*brought, STAGING):
        shutil.rmtree(data_dir / name, ignore_errors=True)
    if (data_dir / KEY_BEFORE).exists():
        (data_dir / KEY_BEFORE).replace(data_dir / SECRET_KEY)
