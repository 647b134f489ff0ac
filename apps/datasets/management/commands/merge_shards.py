"""`manage.py merge_shards`: merge the small token shards of ended runs."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Count
from django.utils import timezone

from apps.datasets.tokens.merging import ShardBroken, shards_merge
from apps.processes.file_locks import LockHeld
from apps.runs.models import LIVE, Run


class Command(BaseCommand):
    help = "Merge small files of recorded tokens of runs that ended some time ago (docs/datasets.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--run", action="append", default=[], metavar="ID", help="only these runs, even if they ended recently"
        )
        parser.add_argument("--hours", type=float, default=24, help="minimum age of ended runs, in hours (default 24)")

    def handle(self, **options: Any) -> None:
        runs = Run.objects.exclude(status__in=LIVE).annotate(shards=Count("token_shards")).filter(shards__gt=1)
        try:
            if options["run"]:
                runs = runs.filter(public_id__in=options["run"])
            else:
                runs = runs.exclude(finished_at__gt=timezone.now() - timedelta(hours=options["hours"]))
            found = list(runs.order_by("pk"))
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        before = after = 0
        broken = []
        for run in found:
            try:
                merged = shards_merge(run)
            except ShardBroken as error:
                broken.append(str(error))
                continue
            except LockHeld as error:
                raise CommandError(
                    f"A backup or another merge is running. {before:,} shards were merged; try again later for the others."
                ) from error
            before, after = before + merged[0], after + merged[1]
        self.stdout.write(f"{before:,} small shards were merged into {after:,}.")
        if broken:
            raise CommandError("Some runs were not merged: " + " ".join(broken))
