"""`manage.py load_samples`: bring the sample library in, or up to date where nobody edited it."""

from typing import Any

from django.core.management.base import BaseCommand

from apps.problems.services import sample_library_load


class Command(BaseCommand):
    """Load the sample library. Running it again changes nothing."""

    help = "Load the sample library of problems. A problem that people edited is left as it is."

    def handle(self, *args: Any, **options: Any) -> None:
        changed = sample_library_load()
        if options["verbosity"]:
            self.stdout.write(f"{changed} problems added or refreshed." if changed else "The sample library is up to date.")
