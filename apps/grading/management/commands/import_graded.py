"""`manage.py import_graded PATH`: bring scripts with points by people in, as a set to measure graders by."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.grading.models import HumanScore
from apps.grading.set_import import set_import, set_known, set_read, upload_of
from apps.grading.set_shapes import named
from apps.problems.importing.files import FileWrong

SHOWN = 20


class Command(BaseCommand):
    """Import a set; the same file twice changes nothing."""

    help = (
        "Import scripts with points by people: GradingBench, DeepSeekMath-V2, Open Proof Corpus, Nomos, QED-Nano, or our own."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="a CSV, JSONL, JSON or ZIP file, or a folder")
        parser.add_argument("--title", default="", help="what the set is called (the layout and the file's name)")
        parser.add_argument("--credit", default="", help="whose work it is, where the layout does not say")
        parser.add_argument("--licence", default="", help="under which licence, where the layout does not say")
        parser.add_argument("--look", action="store_true", help="say what would go in, and stop")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            upload = upload_of(options["path"])
            known = set_known(upload)
            draft = named(set_read(upload), credit=options["credit"], licence=options["licence"])
            if known is not None:
                self.stdout.write(f"This is in already, as “{known.title}”.")
                return
            if not options["look"]:
                title = options["title"] or f"{draft.layout}: {options['path'].stem}"
                made = set_import(upload=upload, draft=draft, title=title, by=None)
                scores = HumanScore.objects.filter(script__graded_set=made).count()
                self.stdout.write(f"“{made.title}” is in: {made.scripts.count()} scripts, {scores} points by people.")
        except FileWrong as error:
            raise CommandError(str(error)) from error
        if options["look"]:
            self.stdout.write(f"{len(draft.scripts)} scripts of the layout {draft.layout} can go in.")
        issues = [issue for _, script in draft.scripts for issue in script.issues]
        lost = sum(bool(issue.lost) for issue in issues)
        if issues:
            self.stdout.write(f"{len(issues)} issues came with them; {lost} have no place in their script and are listed only.")
        self.stdout.write(f"Credit: {draft.credit or 'not told'}. Licence: {draft.licence or 'not told'}.")
        for where, reason in draft.wrong[:SHOWN]:
            self.stdout.write(f"Left out: {where}: {reason}")
        if len(draft.wrong) > SHOWN:
            self.stdout.write(f"… and {len(draft.wrong) - SHOWN} more.")
