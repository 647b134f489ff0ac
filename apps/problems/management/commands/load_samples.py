"""`manage.py load_samples`: load the sample library, and update problems that no user edited."""

from typing import Any

from django.core.management.base import BaseCommand

from apps.problems.services import sample_library_load


class Command(BaseCommand):
    """Load the sample library. Running it again changes nothing."""

    help = "Load the sample library of problems. Problems edited by users are skipped."

    def handle(self, *args: Any, **options: Any) -> None:
        changed = sample_library_load()
        if options["verbosity"]:
            self.stdout.write(f"{changed} problems added or updated." if changed else "The sample library is up to date.")
