"""`manage.py try_model ALIAS`: measure how many of a model's answers are readable, per role."""

import json
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from apps.processes.local import is_stack_up
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias, load_usable
from apps.reasoning.trying.trial import methods
from apps.runs.models import LIVE, Run, RunStatus
from apps.runs.models_status import alias_status
from apps.trials.report import trial_table
from apps.trials.selectors import answer_rows, trials_of
from apps.trials.services import PROBLEMS, TrialPlan, trial_start

POLL_S = 2.0


class Command(BaseCommand):
    help = (
        "Try a model in every role of every scaffold and grader on easy problems with authored solutions. Print per role how "
        "many answers were readable. The stack must be up (make up). Exit status: 0 success, 1 a run failed or was cancelled."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("alias", help="a model of models.toml")
        parser.add_argument(
            "--problems", type=int, default=PROBLEMS, help=f"number of problems, 1 to {PROBLEMS}; few for a slow model"
        )
        parser.add_argument("--method", action="append", default=[], help="a scaffold or grader; repeatable")
        parser.add_argument("--max-new-tokens", type=int, help="maximum new tokens per call")
        parser.add_argument(
            "--answers", type=Path, metavar="FILE", help="write all answers with their texts to FILE as JSON lines"
        )
        parser.add_argument("--report", action="store_true", help="print the last trial without calls to the model")
        parser.add_argument("--no-follow", action="store_true", help="start the runs and exit")

    def handle(self, **options: Any) -> None:
        alias = _alias(options["alias"])
        if not options["report"]:
            runs = self._start(alias, options)
            if options["no_follow"]:
                started = f"{len(runs)} run{'s' * (len(runs) != 1)} started"
                self.stdout.write(f"{started}; /models/{alias.name}/trial/ shows them.")
                return
            try:
                self._follow(runs)
            except KeyboardInterrupt:
                raise CommandError(_unfollowed_words(alias, runs)) from None
            stopped = Run.objects.filter(pk__in=[run.pk for run in runs]).exclude(status=RunStatus.FINISHED)
            self._report_stopped(alias, list(stopped.select_related("problem_version__problem").order_by("pk")))
        self._report(alias, options["answers"])
        if not options["report"] and stopped:
            sys.exit(1)

    def _start(self, alias: Alias, options: dict[str, Any]) -> list[Run]:
        if not 1 <= options["problems"] <= PROBLEMS:
            raise CommandError(f"--problems must be from 1 to {PROBLEMS}.")
        if options["max_new_tokens"] is not None and options["max_new_tokens"] < 1:
            raise CommandError("--max-new-tokens must be more than 0.")
        if unknown := [name for name in options["method"] if name not in methods()]:
            raise CommandError(f"Unknown scaffold or grader {unknown[0]}. Available: {', '.join(methods())}.")
        if not is_stack_up():
            raise CommandError(
                "The stack is not running, so the model cannot be called. Start it with `make up`, then try again."
            )
        plan = TrialPlan(alias, options["problems"], tuple(options["method"]), options["max_new_tokens"])
        return trial_start(user=None, plan=plan)

    def _follow(self, runs: list[Run]) -> None:
        keys, last = [run.pk for run in runs], ""
        while True:
            found = Run.objects.filter(pk__in=keys)
            live = found.filter(status__in=LIVE).count()
            line = f"{len(keys) - live} of {len(keys)} problems, {sum(found.values_list('calls', flat=True)):,} calls"
            if line != last:
                self.stdout.write(line)
                last = line
            if not live:
                return
            time.sleep(POLL_S)

    def _report_stopped(self, alias: Alias, stopped: list[Run]) -> None:
        """Print why runs have no result, and what to do."""
        for run in stopped:
            reason = run.status_reason or "No reason was recorded."
            self.stderr.write(f"{run.problem_version.problem.title}: {run.get_status_display()}. {reason}")
            self.stderr.write(f"  {_address('explorations:run_detail', run.public_id)}")
        if any(run.status == RunStatus.FAILED for run in stopped):
            status = next((one for one in alias_status() if one.name == alias.name), None)
            if status is not None and status.state not in ("ready", "unknown"):
                self.stderr.write(f"State of the model: {status.state}. {status.detail}")
            self.stderr.write(f"Check the entry of {alias.name} in models.toml and its server, then run this command again.")

    def _report(self, alias: Alias, target: Path | None) -> None:
        trials = trials_of(None, alias.name)
        if not trials:
            raise CommandError(f"{alias.name} has not been tried yet. Omit --report to start a trial.")
        self.stdout.write(trial_table(trials[0]))
        if not trials[0].read.of:
            for reason in dict.fromkeys(one.tried.reason for one in trials[0].unreadable):
                self.stdout.write(f"No answer: {reason}")
        if target is not None:
            with target.open("w", encoding="utf-8") as file:
                count = sum(bool(file.write(json.dumps(row, ensure_ascii=False) + "\n")) for row in answer_rows(trials[0]))
            self.stdout.write(f"{count} answers written to {target}.")


def _address(view: str, *args: Any) -> str:
    """URL of a page of the stack on this machine."""
    return f"http://{settings.HOST}:{settings.PORT}{reverse(view, args=args)}"


def _unfollowed_words(alias: Alias, runs: list[Run]) -> str:
    """Status of the runs after the user stops watching them."""
    live = [run for run in Run.objects.filter(pk__in=[run.pk for run in runs]).order_by("pk") if run.is_live]
    shown = f"The result: {_address('trials:trial', alias.name)}"
    if not live:
        return f"Stopped watching; all runs have ended. {shown}"
    pages = [f"  {_address('explorations:run_detail', run.public_id)}" for run in live]
    head = f"Stopped watching; {len(live)} runs continue. To cancel them, open each page below and choose Cancel."
    if len(live) == 1:
        head = "Stopped watching; the run continues. To cancel it, open its page and choose Cancel."
    return "\n".join([head, *pages, shown])


def _alias(name: str) -> Alias:
    try:
        usable = load_usable(settings.MODELS_FILE)
    except AliasError as error:
        raise CommandError(str(error)) from error
    if name not in usable:
        raise CommandError(f"No usable model {name} in models.toml. Available: {', '.join(usable) or 'none'}.")
    return usable[name]
