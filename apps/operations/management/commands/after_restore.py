"""`manage.py after_restore`: cleanup after a restore by other means than `manage.py restore` (docs/backup.md)."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.operations.backups.databases import NotRestored
from apps.operations.backups.epoch import broker_forget, processes_stopped, rows_settle


class Command(BaseCommand):
    help = "Delete broker data that is newer than the restored database. Stop everything else first."

    def handle(self, **options: Any) -> None:
        try:
            processes_stopped(self.stdout.write)
            broker_forget(self.stdout.write)
        except NotRestored as error:
            raise CommandError(str(error).replace(" Nothing was restored.", "")) from error
        rows_settle(self.stdout.write)
