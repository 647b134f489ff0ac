"""`manage.py index_lemmas [--all]`: make the lemmas of all runs searchable that are not yet."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from apps.lemmas.search.index import index_missing


class Command(BaseCommand):
    help = "Index the lemmas that have no search terms yet; with --all, index all lemmas again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--all", action="store_true", help="drop all search terms first, for example after an upgrade")

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{index_missing(everything=options['all'])} lemmas indexed.")
