"""`manage.py backup FILE`: write database and folders of a running installation to one file (docs/backup.md)."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from apps.operations.backups.folders import FOLDERS, BackupFailed
from apps.operations.backups.installed import database_of
from apps.operations.backups.making import backup_make
from apps.operations.backups.words import Progress, in_bytes


class Command(BaseCommand):
    help = "Write the database and the data folders to one file while the installation runs."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the file to write, for example lemmascope-2026-11-23.tar.zst")
        parser.add_argument(
            "--without", action="append", default=[], choices=FOLDERS, help="leave out a folder; may be repeated"
        )

    def handle(self, **options: Any) -> None:
        target: Path = options["file"].absolute()
        try:
            made = backup_make(
                target,
                database=database_of(connection.settings_dict),
                data_dir=Path(settings.DATA_DIR),
                application=settings.VERSION,
                without=frozenset(options["without"]),
                report=Progress("backed up", self.stdout.write),
            )
        except BackupFailed as error:
            raise CommandError(str(error)) from error
        for name in made.left_out:
            self.stderr.write(f"Left out: {name}, a link to a target outside {settings.DATA_DIR}.")
        if made.gone:
            self.stderr.write(f"{len(made.gone)} files were deleted during the backup, such as {made.gone[0]}.")
        what = f"the database and {made.files} file{'s' * (made.files != 1)}, {in_bytes(made.read_bytes)}"
        self.stdout.write(f"{target}: {what}, compressed to {in_bytes(made.written_bytes)}. Restore it with: manage.py restore")
