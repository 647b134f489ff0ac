"""`manage.py load_schemes`: create active schemes from the guidelines of the sample library."""

from typing import Any

from django.core.management.base import BaseCommand

from apps.schemes.samples import sample_schemes_load


class Command(BaseCommand):
    help = "Create active marking schemes from the guidelines of the sample library. Problems with a scheme are skipped."

    def handle(self, *args: Any, **options: Any) -> None:
        added = sample_schemes_load()
        if options["verbosity"]:
            self.stdout.write(f"{added} marking schemes added.")
