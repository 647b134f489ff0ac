"""`manage.py send_notices`: send due mails once."""

from typing import Any

from django.core.management.base import BaseCommand

from apps.results.notices import notices_send


class Command(BaseCommand):
    help = "Send due mails about released results. The orchestrator does the same every 30 s."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{notices_send()} mails sent.")
