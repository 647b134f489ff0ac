"""Makes a backup while the installation runs: the database at one moment, then the files that its rows name."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from apps.operations.backups.archive import FORMAT, ArchiveWriter, Header
from apps.operations.backups.databases import Database
from apps.operations.backups.folders import BackupFailed, files_add, files_list, private
from apps.runs.file_locks import LockHeld, deletion_lock, file_lock

Tell = Callable[[int, int], None]
"""Bytes done, of how many (an estimate)."""


@dataclass(frozen=True)
class Made:
    """What a backup holds: files, bytes before compression, and what it does not hold."""

    files: int
    read_bytes: int
    written_bytes: int
    #: Deleted while it was made, such as checkpoints that a job replaced.
    gone: list[str]
    #: Links that lead out of the data folder.
    left_out: list[str]


def backup_make(
    target: Path, *, database: Database, data_dir: Path, application: str, without: frozenset[str], tell: Tell
) -> Made:
    """Write a backup to `target`, readable by its owner only, under its name once it is whole and on the disk.

    Raises `BackupFailed`; then there is no file of that name.
    """
    if target.exists():
        raise BackupFailed(f"{target} exists already. Choose another name; nothing was overwritten.")
    try:
        with private(), file_lock(deletion_lock(data_dir), shared=True), _beside(target) as file:
            made = _write(file, target, database, data_dir, application, without, tell)
            file.flush()
            os.fsync(file.fileno())
            return made
    except LockHeld as error:
        raise BackupFailed("Token files are being merged or deleted just now. Try again in a minute.") from error
    except OSError as error:
        where = error.filename or target
        raise BackupFailed(f"The backup cannot be written ({error.strerror}: {where}). There is no backup.") from error


def _write(
    file: IO[bytes],
    target: Path,
    database: Database,
    data_dir: Path,
    application: str,
    without: frozenset[str],
    tell: Tell,
) -> Made:
    done = 0
    with database.snapshot(target.with_name(f".{target.name}.database")) as snapshot:
        listing = files_list(data_dir, without)
        total = snapshot.size + listing.size

        def more(size: int) -> None:
            nonlocal done
            done += size
            tell(done, total)

        created = datetime.now(UTC).isoformat(timespec="seconds")
        header = Header(
            format=FORMAT,
            application=application,
            vendor=database.vendor,
            created=created,
            migrations=snapshot.migrations,
        )
        writer = ArchiveWriter(file, header)
        for size in writer.add_dump(snapshot.dump):
            more(size)
    gone = files_add(writer, data_dir, listing, more)
    writer.finish()
    return Made(len(listing.files) + len(listing.same) - len(gone), done, file.tell(), gone, listing.left_out)


@contextmanager
def _beside(target: Path) -> Iterator[IO[bytes]]:
    """A file that becomes `target` where the block ends well, and is deleted where it does not."""
    partial = target.with_name(f".{target.name}.partial")
    with partial.open("ab") as file:  # Truncated below, where no other backup holds it.
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BackupFailed(f"Another backup is being written to {target}.") from error
        try:
            file.truncate(0)
            yield file
            partial.rename(target)
        finally:
            partial.unlink(missing_ok=True)
