"""`manage.py export_run RUN --format jsonl|graphml|dot|json`: everything recorded, or the lemma graph."""

from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from apps.explorations.exports import export_lines
from apps.lemmas.exports import FORMATS, ExportUnavailable, graph_export
from apps.runs.models import Run


class Command(BaseCommand):
    help = "Write a run: everything recorded as jsonl, or its lemma graph in the other formats."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", help="id of the run, from the address of its page")
        parser.add_argument("--format", default="jsonl", choices=["jsonl", *FORMATS])
        parser.add_argument("--no-texts", action="store_true", help="jsonl without prompts and answers")
        parser.add_argument("--output", type=Path, help="file to write instead of the terminal")

    def handle(self, **options: Any) -> None:
        try:
            run = Run.objects.get(public_id=options["run"])
        except (Run.DoesNotExist, ValidationError) as error:
            raise CommandError(f"There is no run {options['run']}.") from error
        pieces: Iterable[str]
        if options["format"] == "jsonl":
            pieces = export_lines(run, texts=not options["no_texts"])
        else:
            try:
                pieces = [graph_export(run, options["format"])[1]]
            except ExportUnavailable as error:
                raise CommandError(str(error)) from error
        if options["output"] is None:
            for piece in pieces:
                self.stdout.write(piece, ending="")
            return
        try:
            with options["output"].open("w", encoding="utf-8") as file:
                file.writelines(pieces)
        except OSError as error:
            raise CommandError(f"Could not write {options['output']}: {error.strerror}.") from error
