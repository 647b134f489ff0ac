"""`manage.py import_graded PATH`: import scripts with points by people, as a set to measure graders with."""

from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.files.tables import FileWrong
from apps.graded_sets.importing import set_import, set_known, set_read, upload_of
from apps.graded_sets.models import HumanScore
from apps.graded_sets.shapes import with_credit

SHOWN = 20


def maximum(word: str) -> Decimal:
    """Parse a number of points above 0."""
    try:
        found = Decimal(word)
    except InvalidOperation:
        found = Decimal(0)
    if not (found.is_finite() and found > 0):
        raise ArgumentTypeError(f"{word!r} is not a number above 0.")
    return found


class Command(BaseCommand):
    """Import a set. Importing the same file again has no effect."""

    help = (
        "Import scripts with points by people: GradingBench, DeepSeekMath-V2, Open Proof Corpus, Nomos, QED-Nano, or our own."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="a CSV, JSONL, JSON or ZIP file, or a folder")
        parser.add_argument("--title", default="", help="title of the set (layout and file name)")
        parser.add_argument("--credit", default="", help="credit, if the layout has none")
        parser.add_argument("--licence", default="", help="licence, if the layout has none")
        parser.add_argument("--out-of", type=maximum, metavar="N", help="maximum points, for rows without a column max")
        parser.add_argument("--look", action="store_true", help="only report what would be imported")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            upload = upload_of(options["path"])
            known = set_known(upload)
            draft = with_credit(set_read(upload, options["out_of"]), credit=options["credit"], licence=options["licence"])
            if known is not None:
                self.stdout.write(f"This file was already imported as “{known.title}”.")
                return
            taken = len(draft.good)
            if not options["look"]:
                title = options["title"] or f"{draft.layout}: {options['path'].stem}"
                made = set_import(upload=upload, draft=draft, title=title, by=None)
                taken = made.scripts.count()
                scores = HumanScore.objects.filter(script__graded_set=made).count()
                self.stdout.write(f"Imported “{made.title}”: scripts: {taken}, scores by people: {scores}.")
        except FileWrong as error:
            raise CommandError(str(error)) from error
        if options["look"]:
            self.stdout.write(f"{len(draft.good)} scripts of the layout {draft.layout} can be imported.")
        issues = [issue for row in draft.good for issue in row.draft.issues]
        lost = sum(bool(issue.lost) for issue in issues)
        if issues:
            self.stdout.write(f"{len(issues)} issues on the scripts; {lost} without a valid place are only listed.")
        maxima = Counter(score.out_of for row in draft.good for score in row.draft.scores)
        if maxima:
            counts = ", ".join(f"{most.normalize():f} ({count})" for most, count in sorted(maxima.items()))
            self.stdout.write(
                f"Points are out of {counts}.{' Each maximum is compared separately.' if len(maxima) > 1 else ''}"
            )
        self.stdout.write(f"Credit: {draft.credit or 'not given'}. Licence: {draft.licence or 'not given'}.")
        if draft.wrong:
            rows = "1 row was" if len(draft.wrong) == 1 else f"{len(draft.wrong)} rows were"
            self.stdout.write(f"{rows} skipped out of {len(draft.wrong) + taken}; results of this set do not include them.")
        for row in draft.wrong[:SHOWN]:
            self.stdout.write(f"Skipped: {row.where}: {row.reason}")
        if len(draft.wrong) > SHOWN:
            self.stdout.write(f"… and {len(draft.wrong) - SHOWN} more.")
