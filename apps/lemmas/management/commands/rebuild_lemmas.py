"""`manage.py rebuild_lemmas RUN`: drop a run's lemma rows and fold its events again."""

import uuid
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.lemmas.projection import rebuild
from apps.runs.models import Run


class Command(BaseCommand):
    help = "Drop the lemma, edge, verdict and proof rows of a run and fold its events again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", type=uuid.UUID, help="id of the run, from its address")

    def handle(self, *args: Any, **options: Any) -> None:
        run = Run.objects.filter(public_id=options["run"]).first()
        if run is None:
            raise CommandError(f"There is no run {options['run']}.")
        self.stdout.write(f"{rebuild(run)} events folded.")
