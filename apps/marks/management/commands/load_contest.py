"""`manage.py load_contest`: the sample contest, with texts and marks that we wrote, for the sample accounts."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.models import User
from apps.accounts.services import SAMPLE_COACHES, SAMPLE_STUDENT, SampleAccountsRefused, sample_accounts_ensure
from apps.marks.sample import SampleRefused, sample_contest_load


class Command(BaseCommand):
    help = "Make the sample contest, in the embedded mode; nothing where it is there."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            sample_accounts_ensure()
            first, second, third = (User.objects.get(username=name) for name in SAMPLE_COACHES)
            made = sample_contest_load(coaches=(first, second, third), student=User.objects.get(username=SAMPLE_STUDENT))
        except (SampleAccountsRefused, SampleRefused) as refused:
            raise CommandError(str(refused)) from refused
        if options["verbosity"]:
            self.stdout.write("The sample contest is there." if made else "There is a sample contest already.")
