"""`manage.py import_problem_set FILE`: import a file of problems as a set from the terminal."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.files.tables import FileWrong
from apps.problem_sets.importing import set_import, set_plan
from apps.problem_sets.models import ProblemSet
from apps.problem_sets.services import SetRefused
from apps.problems.importing.shapes import SHAPES


class Command(BaseCommand):
    """Import a file of problems as a new set, or as a new version of a set."""

    help = "Import a CSV or JSONL file of problems as a set. Rows that cannot be imported are listed and left out."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="input file, or - for standard input")
        parser.add_argument("--title", default="", help="title of a new set")
        parser.add_argument("--into", default="", help="the set that gets a new version, by the name in its address")
        parser.add_argument("--format", default="auto", choices=["auto", *SHAPES], help="format of the file (default: detect)")
        parser.add_argument("--credit", default="", help="author and source")
        parser.add_argument("--licence", default="", help="licence of the problems")

    def handle(self, *args: Any, **options: Any) -> None:
        into = ProblemSet.objects.filter(slug=options["into"]).first() if options["into"] else None
        if options["into"] and into is None:
            raise CommandError(f"There is no set {options['into']}. Known sets: {', '.join(self._known()) or 'none'}.")
        if into is None and not options["title"]:
            raise CommandError("Name the new set with --title, or an existing one with --into.")
        try:
            data = sys.stdin.buffer.read() if options["file"] == "-" else Path(options["file"]).read_bytes()
            plan = set_plan(data, options["format"], None)
            names = {name: options[name] for name in ("title", "credit", "licence")}
            made = set_import(plan=plan, by=None, into=into, **names)
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be read: {error.strerror}.") from error
        except (FileWrong, SetRefused) as error:
            raise CommandError(str(error)) from error
        for row in plan.wrong:
            self.stderr.write(f"{row.where}{f' ({row.label})' if row.label else ''}: {row.reason}")
        self.stdout.write(f"{made}: {len(plan.good):,} problems, {len(plan.wrong):,} rows left out.")

    def _known(self) -> list[str]:
        return list(ProblemSet.objects.values_list("slug", flat=True))
