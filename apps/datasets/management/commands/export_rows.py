"""`manage.py export_rows NAME --recipe RECIPE`: make a dataset version from finished runs and wait for it."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from apps.datasets.models import DatasetVersion, TokenShard
from apps.datasets.services import build_start, options_read, progress_file
from apps.datasets.versions.choosing import NothingToMake, runs_to_choose
from apps.datasets.versions.making import build_make
from apps.recipes.registry import TRAININGS
from apps.runs.models import Run


class Command(BaseCommand):
    help = (
        "Make an immutable dataset version from all finished runs, or from those selected (docs/datasets.md). "
        "Exit with status 1 and the reason where nothing can be made."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="lower-case letters, digits and hyphens; the version number is added")
        parser.add_argument("--recipe", required=True, choices=list(TRAININGS))
        parser.add_argument("--run", action="append", default=[], metavar="ID", help="a run; repeatable")
        parser.add_argument("--problem", action="append", default=[], metavar="SLUG", help="all finished runs on this problem")
        parser.add_argument("--scaffold", default="", help="only runs of this scaffold")
        parser.add_argument("--recorded", action="store_true", help="only runs whose tokens were recorded")
        parser.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE", help="an option of the recipe, or judge=answer"
        )

    def handle(self, **options: Any) -> None:
        given = dict(pair.partition("=")[::2] for pair in options["set"])
        try:
            if options["recipe"] in TRAININGS:
                options_read(TRAININGS[options["recipe"]], given)  # Report a wrong option before a lack of runs.
            build = build_start(
                user=None, name=options["name"], recipe=options["recipe"], runs=_runs(options), options=given, start=False
            )
            with progress_file(build):
                version = build_make(build, report=self._report_progress)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        except NothingToMake as nothing:
            raise CommandError(str(nothing)) from nothing
        self._print_summary(version)

    def _report_progress(self, what: str, done: int, of: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{what}: {done:,} of {of:,}   ", ending="")

    def _print_summary(self, version: DatasetVersion) -> None:
        counts = version.counts
        held = f"{counts['rows']:,} rows of {counts['trajectories']:,} trajectories in {counts['groups']:,} groups"
        self.stdout.write(f"{version}: {held}, {counts['problems']:,} problems; {version.folder}")
        if not version.has_logprobs:
            self.stdout.write("No log-probabilities: use it for supervised learning only.")


def _runs(options: dict[str, Any]) -> list[Run]:
    """Select the runs. Raises `CommandError` for an unknown run, or without any."""
    found = runs_to_choose(None)
    if options["run"]:
        by_id = {str(run.public_id): run for run in found}
        unknown = [name for name in options["run"] if name not in by_id]
        if unknown:
            raise CommandError(f"{unknown[0]} is not a finished exploration.")
        found = [by_id[name] for name in dict.fromkeys(options["run"])]
    if options["recorded"]:
        recorded = set(TokenShard.objects.values_list("run_id", flat=True).order_by().distinct())
        found = [run for run in found if run.pk in recorded]
    if options["problem"]:
        found = [run for run in found if run.problem_version.problem.slug in options["problem"]]
    if options["scaffold"]:
        found = [run for run in found if run.scaffold == options["scaffold"]]
    if not found:
        raise CommandError("No finished run matches. Start explorations first (manage.py explore PROBLEM --record-tokens).")
    return found
