"""`manage.py load_contest`: create the sample contest and the sample training sheet, with authored texts and marks."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.models import User
from apps.accounts.services import SAMPLE_COACHES, SAMPLE_STUDENT, SampleAccountsRefused, sample_accounts_ensure
from apps.marks.sample import SampleRefused, sample_contest_load
from apps.results.sample import sample_training_load


class Command(BaseCommand):
    help = "Create the sample contest and the sample training sheet (embedded mode only). Existing ones stay unchanged."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            sample_accounts_ensure()
            first, second, third = (User.objects.get(username=name) for name in SAMPLE_COACHES)
            people: dict[str, Any] = {
                "coaches": (first, second, third),
                "student": User.objects.get(username=SAMPLE_STUDENT),
            }
            made = {"contest": sample_contest_load(**people), "training sheet": sample_training_load(**people)}
        except (SampleAccountsRefused, SampleRefused) as refused:
            raise CommandError(str(refused)) from refused
        if options["verbosity"]:
            for name, found in made.items():
                self.stdout.write(f"Created the sample {name}." if found else f"The sample {name} already exists.")
