"""Write a backup while the installation runs: the database at one moment, then the files that its rows name."""

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
from apps.processes.file_locks import LockHeld, deletion_lock, file_lock

ReportProgress = Callable[[int, int], None]
"""Receives the bytes done and the estimated total."""


@dataclass(frozen=True)
class Made:
    """Content of a backup: number of files, bytes before and after compression, and omitted files."""

    files: int
    read_bytes: int
    written_bytes: int
    #: Files deleted during the backup, such as checkpoints that a job replaced.
    gone: list[str]
    #: Links to targets outside the data folder.
    left_out: list[str]


def backup_make(
    target: Path, *, database: Database, data_dir: Path, application: str, without: frozenset[str], report: ReportProgress
) -> Made:
    """Write a backup to `target`, readable by its owner only. The file gets its name once it is complete and synced.

    Raises `BackupFailed`; then no file of that name exists.
    """
    if target.exists():
        raise BackupFailed(f"{target} already exists. Nothing was overwritten. Choose another name.")
    try:
        with private(), file_lock(deletion_lock(data_dir), shared=True), _partial_file(target) as file:
            made = _write(file, target, database, data_dir, application, without, report)
            file.flush()
            os.fsync(file.fileno())
            return made
    except LockHeld as error:
        raise BackupFailed("Token files are being merged or deleted. No backup was written. Try again in a minute.") from error
    except OSError as error:
        where = error.filename or target
        raise BackupFailed(f"The backup cannot be written ({error.strerror}: {where}). No backup was written.") from error


def _write(
    file: IO[bytes],
    target: Path,
    database: Database,
    data_dir: Path,
    application: str,
    without: frozenset[str],
    report: ReportProgress,
) -> Made:
    done = 0
    with database.snapshot(target.with_name(f".{target.name}.database")) as snapshot:
        listing = files_list(data_dir, without)
        total = snapshot.size + listing.size

        def more(size: int) -> None:
            nonlocal done
            done += size
            report(done, total)

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
def _partial_file(target: Path) -> Iterator[IO[bytes]]:
    """A file that becomes `target` if the block succeeds, and is deleted if it fails."""
    partial = target.with_name(f".{target.name}.partial")
    with partial.open("ab") as file:  # Truncated below, once it is locked.
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BackupFailed(f"Another backup is being written to {target}. Wait for it, or choose another name.") from error
        try:
            file.truncate(0)
            yield file
            partial.rename(target)
        finally:
            partial.unlink(missing_ok=True)
