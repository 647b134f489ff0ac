"""`manage.py load_schemes`: make the guidelines of the sample library into schemes that can be marked with."""

from typing import Any

from django.core.management.base import BaseCommand

from apps.schemes.samples import sample_schemes_load


class Command(BaseCommand):
    help = "Make the sample library's guidelines into active marking schemes. Problems that have a scheme are left alone."

    def handle(self, *args: Any, **options: Any) -> None:
        added = sample_schemes_load()
        if options["verbosity"]:
            self.stdout.write(f"{added} marking schemes added.")
