"""`manage.py stream_rows JOB --problem SLUG`: feed finished runs into a training job's stream while it trains."""

import json
import subprocess
import sys
import threading
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from apps.datasets.recorded.feeding import Feed, FeedPlan
from apps.datasets.services import options_read
from apps.datasets.tokens.shards import tokens_folder
from apps.datasets.versions.choosing import NothingToMake
from apps.recipes.registry import TRAININGS


class Command(BaseCommand):
    help = (
        "Feed finished recorded runs on some problems, now and as they finish, to a job whose source is a stream "
        "(docs/datasets.md). Ends with the job, after --runs, or on Ctrl-C; start it again to continue."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("job", type=Path, help="the job's folder")
        parser.add_argument("--problem", action="append", required=True, metavar="SLUG", help="a problem; repeatable")
        parser.add_argument("--scaffold", default="", help="only runs of this scaffold")
        parser.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE", help="an option of the recipe, or judge=answer"
        )
        parser.add_argument("--runs-a-group", type=int, default=8, help="runs compared per visit of a problem (default 8)")
        parser.add_argument("--runs", type=int, default=0, help="number of runs after which the stream ends (default: none)")
        parser.add_argument("--every", type=float, default=2.0, help="seconds between two polls (default 2)")

    def handle(self, **options: Any) -> None:
        job: Path = options["job"].resolve()
        try:
            recipe = TRAININGS[json.loads((job / "config.json").read_text(encoding="utf-8"))["recipe"]]
        except (OSError, ValueError, KeyError) as error:
            raise CommandError(f"{job} is not the folder of a job: {error}") from error
        if options["runs_a_group"] < 1:
            raise CommandError("A group needs at least one run. Set --runs-a-group to 1 or more.")
        try:
            chosen = options_read(recipe, dict(pair.partition("=")[::2] for pair in options["set"]))
            judge = chosen.pop("judge")
            plan = FeedPlan(recipe, judge, options["problem"], options["scaffold"], options["runs_a_group"])
            feed = Feed(job / "feed.jsonl", plan)
            status = self._feed(feed, job, chosen, options)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        except NothingToMake as nothing:
            raise CommandError(str(nothing)) from nothing
        self._report(feed, job, status)

    def _feed(self, feed: Feed, job: Path, chosen: dict[str, Any], options: dict[str, Any]) -> int:
        """Feed the producer until it ends; return its exit status."""
        command = [sys.executable, "-m", "apps.recipes.rows.following", "--group", "0", "--options", json.dumps(chosen)]
        command += ["--job", str(job), "--feed", str(feed.path), "--tokens", str(tokens_folder().resolve())]
        pause, ended = threading.Event(), False
        with subprocess.Popen(command, cwd=settings.BASE_DIR) as producer:
            try:
                while producer.poll() is None:
                    if not ended:
                        feed.poll()
                    if options["runs"] and feed.runs >= options["runs"] and not ended:
                        feed.end()
                        ended = True
                    pause.wait(0.1 if ended else options["every"])
            except KeyboardInterrupt:
                self.stdout.write("Stopping …")
            finally:
                if producer.poll() is None:
                    producer.terminate()
            return producer.wait()

    def _report(self, feed: Feed, job: Path, status: int) -> None:
        for row in feed.left.rows:
            self.stdout.write(f"Left out: {row['count']} × {row['reason']}, for example {row['examples'][0]}.")
        try:
            state = json.loads((job / "stream.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            state = {}
        if status not in (0, 3) or not state:
            raise CommandError(str(state.get("message") or "The producer could not start; see its message above."))
        counts = ", ".join(f"{state[name]:,} {name}" for name in ("complete", "silent", "waiting", "unfinished", "dropped"))
        self.stdout.write(f"{feed.runs:,} runs, {state['rows']:,} rows; {counts}. State of the producer: {state['state']}.")
