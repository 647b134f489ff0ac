"""`manage.py after_restore`: for a database that was restored by other means than `manage.py restore` (docs/backup.md)."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.operations.backups.databases import NotRestored
from apps.operations.backups.epoch import broker_forget, processes_stopped, rows_settle


class Command(BaseCommand):
    help = "Delete what the broker knows of a future that a restored database does not hold. Stop everything else before."

    def handle(self, **options: Any) -> None:
        try:
            processes_stopped(self.stdout.write)
            broker_forget(self.stdout.write)
        except NotRestored as error:
            raise CommandError(str(error).replace(" Nothing was restored.", "")) from error
        rows_settle(self.stdout.write)
