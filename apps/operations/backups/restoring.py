"""Restore a verified backup into an empty installation. A failed restore leaves nothing behind."""

import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from apps.operations.backups.archive import (
    DATABASE,
    FILES,
    Header,
    Manifest,
    archive_verify,
    header_read,
    members_read,
)
from apps.operations.backups.databases import Database, NotRestored
from apps.operations.backups.folders import files_extract, files_place, files_take_back, folders_in_use, folders_of, private
from apps.operations.backups.making import ReportProgress

_NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


def header_accept(source: Path, vendor: str, known: Collection[tuple[str, str]], application: str) -> Header:
    """Read the header and check that this version can restore the backup. Raises `ArchiveError`, `NotRestored`."""
    header = header_read(source)
    if header.vendor != vendor:
        raise NotRestored(
            f"{source} is a backup of {_NAMES.get(header.vendor, header.vendor)}, and this installation uses {_NAMES[vendor]}: "
            f"{'unset' if vendor == 'postgresql' else 'set'} DATABASE_URL. Nothing was restored."
        )
    unknown = [f"{app}.{name}" for app, names in header.migrations.items() for name in names if (app, name) not in known]
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise NotRestored(
            f"{source} was made by Lemmascope {header.application}, which is newer: this version, {application}, does not know "
            f"the migration {unknown[0]}{more}. Install {header.application} or newer, then restore. Nothing was restored."
        )
    return header


def installation_is_empty(database: Database, data_dir: Path, manifest: Manifest) -> None:
    """Raise `NotRestored`, with advice, if a restore would mix two installations."""
    if why := database.why_not_empty():
        raise NotRestored(f"This installation is not empty. {why} Nothing was restored. docs/backup.md shows each step.")
    if used := folders_in_use(data_dir, folders_of(manifest)):
        names = ", ".join(used)
        raise NotRestored(
            f"This installation is not empty: {data_dir} holds {names}. To keep them: mkdir {data_dir}/aside && "
            f"mv {' '.join(str(data_dir / name) for name in used)} {data_dir}/aside. Nothing was restored."
        )


def backup_verify(source: Path, report: ReportProgress) -> Manifest:
    """Read the whole file and compare every checksum. Raises `ArchiveError`."""
    done = 0

    def more(count: int) -> None:
        nonlocal done
        done += count
        report(done, 0)

    return archive_verify(source, more)


def backup_restore(
    source: Path, manifest: Manifest, *, database: Database, data_dir: Path, keep_key: bool, report: ReportProgress
) -> None:
    """Restore a verified backup into an empty installation: files first, then the database in one step.

    Raises `NotRestored` and `ArchiveError` after removing everything that was written.
    """
    _check_free_space(manifest, database, data_dir)
    done, total = 0, manifest.size

    def more(count: int) -> None:
        nonlocal done
        done += count
        report(done, total)

    def parts() -> Iterator[bytes]:
        for member in members_read(source):
            if member.name.startswith(DATABASE):
                yield member.data.read()
                more(member.size)
            elif member.name.startswith(FILES):
                return

    try:
        with private():
            files_place(files_extract(source, manifest, data_dir, keep_key, more), data_dir)
            database.load(parts())
    except OSError as error:
        files_take_back(data_dir, folders_of(manifest))
        raise NotRestored(f"The files cannot be written ({error.strerror}: {error.filename}). Nothing was restored.") from error
    except BaseException:
        files_take_back(data_dir, folders_of(manifest))
        raise


def _check_free_space(manifest: Manifest, database: Database, data_dir: Path) -> None:
    is_here = FILES if database.vendor != "sqlite" else (FILES, DATABASE)
    needed = sum(size for name, (size, _) in manifest.members.items() if name.startswith(is_here))
    free = shutil.disk_usage(data_dir).free
    if needed > free:
        raise NotRestored(
            f"{data_dir} has {free / 1e9:.1f} GB free, and the backup needs {needed / 1e9:.1f} GB. Nothing was restored."
        )
