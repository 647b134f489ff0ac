"""`manage.py export_problems`: export the library in a format of the import."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.problems.importing.exports import FORMATS, export_text
from apps.problems.importing.shapes import SHAPES
from apps.problems.models import Problem


class Command(BaseCommand):
    """Write the problems of the library to a file or to standard output."""

    help = "Export problems with solutions and marking schemes as JSONL or CSV, in the Lemmascope or an IMO-Bench format."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--format", default="jsonl", choices=FORMATS)
        parser.add_argument("--shape", default="ours", choices=list(SHAPES))
        parser.add_argument("--output", type=Path, help="output file (default: standard output)")

    def handle(self, *args: Any, **options: Any) -> None:
        text = export_text(Problem.objects.filter(is_listed=True), file_format=options["format"], shape_name=options["shape"])
        target: Path | None = options["output"]
        if target is None:
            self.stdout.write(text, ending="")
            return
        try:
            target.write_text(text, encoding="utf-8", newline="")
        except OSError as error:
            raise CommandError(f"{target} cannot be written: {error.strerror}.") from error
