"""`manage.py import_log FILE…`: import runs that were made elsewhere as finished runs."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.explorations.importing.batches import Batch, Facts, batches
from apps.explorations.importing.imported_run import LogFile, LogWrong
from apps.explorations.importing.recording import batch_import
from apps.explorations.importing.report import unread_of
from apps.problems.models import Problem, Topic

_MOST_LISTED = 20


class Command(BaseCommand):
    """Import logs, proof graphs and proof ledgers."""

    help = (
        "Import runs that were made elsewhere: solver–verifier logs (lyang36/IMO25), proof graphs (alethfeld), proof ledgers "
        "(vibefeld; a folder of events or one file of lines). Importing a file again creates no second run. docs/importing.md"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="files, or folders of them")
        parser.add_argument("--problem", default="", help="slug of the files' problem in the library")
        parser.add_argument("--title", default="", help="title of a new problem")
        parser.add_argument("--topic", default="", choices=["", *Topic.values], help="topic of a new problem")
        parser.add_argument("--source", default="", help="source of the files, shown on the page")
        parser.add_argument("--licence", default="", help="licence and credits, shown on the page")

    def handle(self, *args: Any, **options: Any) -> None:
        problem = None
        if options["problem"]:
            problem = Problem.objects.filter(slug=options["problem"]).first()
            if problem is None:
                raise CommandError(f"There is no problem {options['problem']} in the library.")
        facts = Facts(options["title"], options["topic"], "", options["source"], options["licence"])
        failed = 0
        for path in options["files"]:
            found, unknown = batches(_files(path))
            for name in unknown if path.is_file() or not found else ():
                failed += 1
                self.stderr.write(f"{name}: not imported, unknown format; docs/importing.md lists the formats.")
            for batch in found:
                failed += not self._import(batch, facts, problem)
        if failed:
            raise CommandError(f"{failed} could not be imported; the others were.")

    def _import(self, batch: Batch, facts: Facts, problem: Problem | None) -> bool:
        try:
            done = batch_import(batch=batch, user=None, facts=facts, problem=problem)
        except LogWrong as error:
            self.stderr.write(str(error))
            return False
        run = done.run
        if not done.is_new:
            self.stdout.write(f"{batch.name}: already imported, /runs/{run.public_id}/")
            return True
        unread = unread_of(run)
        words = f"{run.last_seq:,} events, {run.calls:,} calls, {len(unread):,} parts not imported"
        self.stdout.write(f"{batch.name} ({batch.format}): {words}. /runs/{run.public_id}/")
        for piece in unread[:_MOST_LISTED]:
            self.stdout.write(f"  {piece.where}: {piece.reason}")
        if len(unread) > _MOST_LISTED:
            self.stdout.write(f"  and {len(unread) - _MOST_LISTED:,} more, on the page of the run")
        return True


def _files(path: Path) -> list[LogFile]:
    """The file, or all possible logs in a folder and its subfolders. Raises `CommandError`."""
    try:
        if not path.is_dir():
            return [LogFile(path.name, path.read_bytes())]
        names = [one for one in sorted(path.rglob("*")) if one.suffix in {".log", ".txt", ".json", ".jsonl"} and one.is_file()]
        return [LogFile(str(one.relative_to(path)), one.read_bytes()) for one in names]
    except OSError as error:
        raise CommandError(f"Could not read {path}: {error.strerror}.") from error
