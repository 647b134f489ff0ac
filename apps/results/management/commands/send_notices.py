"""`manage.py send_notices`: send the mails that are due, once."""

from typing import Any

from django.core.management.base import BaseCommand

from apps.results.notices import notices_send


class Command(BaseCommand):
    help = "Send the mails about released results that are due. The orchestrator does the same every half a minute."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{notices_send()} mails sent.")
