"""`manage.py export_run RUN --format …`: everything recorded, the lemma graph, the write-up in LaTeX, or spans."""

from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from apps.explorations.exports import export_lines
from apps.explorations.take_away.article import article
from apps.explorations.take_away.spans import spans_text
from apps.explorations.take_away.written import written_proof
from apps.lemmas.exports import FORMATS, ExportUnavailable, graph_export
from apps.runs.models import Run


class Command(BaseCommand):
    """Write one file of a run."""

    help = "Write a run: everything recorded (jsonl), its selected proof (latex), its calls (spans), or its lemma graph."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", help="id of the run, from the address of its page")
        parser.add_argument("--format", default="jsonl", choices=["jsonl", "latex", "spans", *FORMATS])
        parser.add_argument("--no-texts", action="store_true", help="jsonl without prompts and answers")
        parser.add_argument("--output", type=Path, help="file to write instead of the terminal")

    def handle(self, **options: Any) -> None:
        try:
            run = Run.objects.get(public_id=options["run"])
        except (Run.DoesNotExist, ValidationError) as error:
            raise CommandError(f"There is no run {options['run']}.") from error
        pieces = _pieces(run, options["format"], texts=not options["no_texts"])
        if options["output"] is None:
            for piece in pieces:
                self.stdout.write(piece, ending="")
            return
        try:
            with options["output"].open("w", encoding="utf-8") as file:
                file.writelines(pieces)
        except OSError as error:
            raise CommandError(f"Could not write {options['output']}: {error.strerror}.") from error


def _pieces(run: Run, form: str, *, texts: bool) -> Iterable[str]:
    """The file in pieces. Raises `CommandError` if it cannot be made."""
    if form == "jsonl":
        return export_lines(run, texts=texts)
    if form == "spans":
        return spans_text(run)
    if form == "latex":
        written = written_proof(run)
        if written is None:
            raise CommandError("This run has no selected proof, so there is nothing to write up.")
        return [article(written)]
    try:
        return [graph_export(run, form)[1]]
    except ExportUnavailable as error:
        raise CommandError(str(error)) from error
