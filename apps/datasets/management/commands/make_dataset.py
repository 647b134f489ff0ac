"""`manage.py make_dataset BUILD`: process of a build started by a page. From a terminal, use `export_rows`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.datasets.models import DatasetBuild
from apps.datasets.services import progress_file
from apps.datasets.versions.choosing import NothingToMake
from apps.datasets.versions.making import build_make, making_folder


class Command(BaseCommand):
    help = "Make the dataset version of a build that was started on the page Datasets."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("build")

    def handle(self, **options: Any) -> None:
        build = DatasetBuild.objects.filter(public_id=options["build"], state=DatasetBuild.State.MAKING).first()
        if build is None:
            raise CommandError(f"There is no unfinished build {options['build']}.")
        try:
            with progress_file(build) as report:
                version = build_make(build, report=report)
        except NothingToMake as nothing:
            raise CommandError(str(nothing)) from nothing
        making_folder(build).with_suffix(".log").unlink(missing_ok=True)
        self.stdout.write(str(version))
