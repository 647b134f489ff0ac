"""`manage.py restore FILE`: restore a backup into an empty installation and clean the broker (docs/backup.md)."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from apps.operations.backups.archive import ArchiveError, Header
from apps.operations.backups.databases import NotRestored
from apps.operations.backups.epoch import broker_forget, processes_stopped, rows_settle
from apps.operations.backups.folders import SECRET_KEY
from apps.operations.backups.installed import database_of
from apps.operations.backups.restoring import backup_restore, backup_verify, header_accept, installation_is_empty
from apps.operations.backups.words import Progress, in_bytes
from apps.processes.file_locks import LockHeld, file_lock, up_lock


class Command(BaseCommand):
    help = "Restore a backup into an empty installation. Stop everything but inference workers first."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a file from `manage.py backup`")
        parser.add_argument("--check", action="store_true", help="verify the file only; change nothing")

    def handle(self, **options: Any) -> None:
        source: Path = options["file"].absolute()
        try:
            if options["check"]:
                self._check(source)
            else:
                with file_lock(up_lock(Path(settings.DATA_DIR))):
                    self._restore(source)
        except LockHeld as error:
            raise CommandError(
                f"Lemmascope is running on {settings.DATA_DIR}. Stop it with Ctrl-C in `make up`, then restore."
            ) from error
        except (ArchiveError, NotRestored) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}. Nothing was restored.") from error

    def _check(self, source: Path) -> None:
        header = self._header(source)
        manifest = backup_verify(source, Progress("verified", self.stdout.write))
        size = in_bytes(manifest.size)
        self.stdout.write(f"{source} is complete: {header.vendor}, {header.created}, Lemmascope {header.application}, {size}.")

    def _header(self, source: Path) -> Header:
        disk = _migrations()
        known = {*disk, *(replaced for migration in disk.values() for replaced in migration.replaces)}
        return header_accept(source, connection.vendor, known, settings.VERSION)

    def _restore(self, source: Path) -> None:
        data_dir, database = Path(settings.DATA_DIR), database_of(connection.settings_dict)
        header = self._header(source)
        processes_stopped(self.stdout.write)
        manifest = backup_verify(source, Progress("verified", self.stdout.write))
        installation_is_empty(database, data_dir, manifest)
        broker_forget(self.stdout.write)
        keep_key = _kept_key(data_dir) != settings.SECRET_KEY
        backup_restore(
            source,
            manifest,
            database=database,
            data_dir=data_dir,
            keep_key=keep_key,
            report=Progress("restored", self.stdout.write),
        )
        self.stdout.write(f"Restored the installation of {header.created}.")
        self._bring_up_to_date(header)

    def _bring_up_to_date(self, header: Header) -> None:
        applied = {(app, name) for app, names in header.migrations.items() for name in names}
        if missing := len(_migrations().keys() - applied):
            try:
                call_command("migrate", verbosity=0, interactive=False)
            except Exception as error:
                raise CommandError(
                    f"The backup was restored, but its database, of Lemmascope {header.application}, could not be migrated to "
                    f"{settings.VERSION} ({error}). Start Lemmascope {header.application} on it, or fix the cause and run "
                    "`manage.py migrate`. Then run `manage.py after_restore`."
                ) from error
            self.stdout.write(f"The backup is of Lemmascope {header.application}; migrations brought it up to date: {missing}.")
        rows_settle(self.stdout.write)


def _migrations() -> dict[tuple[str, str], Any]:
    return MigrationLoader(None, ignore_no_migrations=True).disk_migrations


def _kept_key(data_dir: Path) -> str:
    """The secret key that the embedded mode stores in a file; empty if the environment sets one."""
    path = data_dir / SECRET_KEY
    return path.read_text().strip() if path.exists() else ""
