"""`manage.py new_scaffold NAME`: create the files of a new scaffold, ready to run and to edit."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.explorations.new_scaffold import NameRefused, new_scaffold


class Command(BaseCommand):
    help = "Write the module, prompt and test of a new scaffold and add it to the registry (docs/scaffolds.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="name in code and addresses, such as two_drafts")
        parser.add_argument("--title", default="", help="name on pages; default: derived from the name")
        parser.add_argument("--root", type=Path, default=settings.BASE_DIR, help="repository to write into (default: this one)")

    def handle(self, *, name: str, title: str, root: Path, **options: Any) -> None:
        try:
            written = new_scaffold(root, name, title)
        except NameRefused as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"Could not read or write {error.filename}: {error.strerror}.") from error
        for path in written.files:
            self.stdout.write(f"wrote {path}")
        for path in written.tables:
            self.stdout.write(f"added a line to {path}")
        self.stdout.write(f"Now run: pytest tests/reasoning -k {name}. Restart `make up` to start it from a problem's page.")
