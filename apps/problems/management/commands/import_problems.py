"""`manage.py import_problems FILE`: import problems from the terminal."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.files.tables import FileWrong
from apps.problems.importing.plans import plan_make
from apps.problems.importing.shapes import SHAPES
from apps.problems.services import problems_import


class Command(BaseCommand):
    """Import problems from a CSV or JSONL file."""

    help = "Import problems from a CSV or JSONL file in one transaction. Invalid rows are listed and skipped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="input file, or - for standard input")
        parser.add_argument("--format", default="auto", choices=["auto", *SHAPES], help="format of the file (default: detect)")
        parser.add_argument("--dry-run", action="store_true", help="only report what would be imported")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            data = sys.stdin.buffer.read() if options["file"] == "-" else Path(options["file"]).read_bytes()
            plan = plan_make(data, options["format"])
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be read: {error.strerror}.") from error
        except FileWrong as error:
            raise CommandError(str(error)) from error
        for row in plan.wrong:
            self.stderr.write(f"{plan.row_word} {row.where}{f' ({row.label})' if row.label else ''}: {row.reason}")
        for name in plan.left_out:
            self.stderr.write(f"column {name}: ignored")
        if not options["dry_run"]:
            problems_import(drafts=[row.draft for row in plan.good], by=None)
        verb = "would be imported" if options["dry_run"] else "imported"
        words = f"{len(plan.good)} problem{'' if len(plan.good) == 1 else 's'}"
        self.stdout.write(f"{plan.shape.title}: {words} {verb}, {len(plan.wrong)} skipped.")
