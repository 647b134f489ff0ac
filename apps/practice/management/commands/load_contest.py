"""`manage.py load_contest`: create the sample contest and two sample sheets, with authored texts, marks and answers."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.models import User
from apps.accounts.services import SAMPLE_COACHES, SAMPLE_STUDENT, SampleAccountsRefused, sample_accounts_ensure
from apps.marks.sample import SampleRefused, sample_contest_load
from apps.practice.sample import sample_sheet_load
from apps.results.sample import sample_training_load


class Command(BaseCommand):
    help = "Create the sample contest and two sample sheets (embedded mode only). Existing ones stay unchanged."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            sample_accounts_ensure()
            first, second, third = (User.objects.get(username=name) for name in SAMPLE_COACHES)
            people: dict[str, Any] = {
                "coaches": (first, second, third),
                "student": User.objects.get(username=SAMPLE_STUDENT),
            }
            made = {
                "contest": sample_contest_load(**people),
                "training sheet": sample_training_load(**people),
                "practice sheet": sample_sheet_load(**people),
            }
        except (SampleAccountsRefused, SampleRefused) as refused:
            raise CommandError(str(refused)) from refused
        if options["verbosity"]:
            for name, found in made.items():
                self.stdout.write(f"Created the sample {name}." if found else f"The sample {name} already exists.")
