"""`manage.py explore PROBLEM`: start an exploration and follow it in the terminal."""

import json
import sys
import threading
import time
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.live import Live

from apps.accounts.models import User
from apps.explorations.driving import check_local, drive_in_thread, is_stack_up
from apps.explorations.exports import run_head
from apps.explorations.progress import Progress
from apps.explorations.services import plan_start, worked_example_start
from apps.explorations.starting.given import given_of
from apps.explorations.starting.plans import Plan, is_large, plan_aliases, plan_duration, plan_estimate, usable_aliases
from apps.lemmas.final_answers import final_answer_of
from apps.problems.models import Problem
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.spec import Budget
from apps.runs.models import Run, RunStatus
from apps.runs.selectors import event_page
from apps.ui.words import duration

POLL_S = 0.2


class Command(BaseCommand):
    help = (
        "Start an exploration of a problem and follow it. If the stack is running, the run uses its queue; otherwise this "
        "process drives it, with models served over HTTP. Exit status: 0 accepted, 2 ended without acceptance, 1 failed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("problem", nargs="?", help="slug of a problem in the library")
        parser.add_argument("--example", action="store_true", help="play the worked example (authored texts, no model)")
        parser.add_argument("--scaffold", default=next(iter(SCAFFOLDS)), choices=list(SCAFFOLDS))
        parser.add_argument("--preset", default="", help="default: the scaffold's first preset")
        parser.add_argument(
            "--alias", action="append", default=[], help="model of all roles, or role=model; may be given several times"
        )
        parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="parameter of the scaffold")
        parser.add_argument("--budget-tokens", type=int)
        parser.add_argument("--budget-calls", type=int)
        parser.add_argument("--budget-seconds", type=float)
        parser.add_argument("--max-new-tokens", type=int, help="limit of new tokens per call")
        parser.add_argument("--temperature", type=float)
        parser.add_argument("--seed", type=int)
        parser.add_argument("--record-tokens", action="store_true", help="keep the sampled tokens of all calls, for learning")
        parser.add_argument("--user", help="name of the owner")
        parser.add_argument("--here", action="store_true", help="drive the run in this process even if the stack is running")
        parser.add_argument("--yes", action="store_true", help="start a large run without asking")
        parser.add_argument("--no-follow", action="store_true", help="start the run, print its id, and leave it to the stack")
        parser.add_argument("--json", action="store_true", help="print events and the outcome as JSON lines")

    def handle(self, **options: Any) -> None:
        here = options["here"] or not is_stack_up()
        if here and options["no_follow"]:
            raise CommandError(
                "The run was not started: the stack is not running. Start it with `make up`, or leave out --no-follow."
            )
        try:
            run = self._start(options, here=here)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        except AliasError as error:
            raise CommandError(str(error)) from error
        if options["no_follow"]:
            self.stdout.write(str(run.public_id))
            return
        thread = drive_in_thread(run) if here else None
        try:
            self._follow(run, as_json=options["json"], thread=thread)
        except KeyboardInterrupt:
            next_step = "The next `make up` continues it" if here else "It continues without this terminal"
            raise CommandError(f"Stopped watching run {run.public_id}. {next_step}.") from None
        self._end(run, as_json=options["json"])

    def _start(self, options: dict[str, Any], *, here: bool) -> Run:
        user, slug = self._user(options["user"]), options["problem"] or ""
        if options["example"]:
            return worked_example_start(user=user, start=not here)
        problem = Problem.objects.filter(slug=slug).first()
        if problem is None:
            raise CommandError(f"There is no problem {slug}. The slug is the last part of its page's address.")
        plan = _plan(options)
        aliases = usable_aliases()
        if here:
            check_local(plan_aliases(plan, aliases).values())
        estimate = plan_estimate(plan, aliases, given_of(problem, user))
        if is_large(estimate, plan.budget) and not options["yes"]:
            raise CommandError(f"This run may make {estimate.calls_max:,} calls. Add --yes to start it, or set --budget-calls.")
        if not options["json"] and not options["no_follow"]:
            calls = [f"{count:,} call{'s' * (count != 1)}" for count in (estimate.calls_expected, estimate.calls_max)]
            self.stdout.write(f"About {calls[0]} and {estimate.tokens_expected:,} tokens, at most {calls[1]}.")
            if found := plan_duration(plan, estimate, aliases):
                self.stdout.write(f"About {duration(found.seconds)} at this machine's last measured speed.")
        return plan_start(user=user, problem=problem, plan=plan, start=not here)

    def _user(self, name: str | None) -> User | None:
        if not name:
            return None
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"There is no account {name}.")
        return user

    def _follow(self, run: Run, *, as_json: bool, thread: threading.Thread | None) -> None:
        progress, after = Progress(), 0
        console = Console(file=sys.stdout)
        with Live(progress.table(run), console=console, auto_refresh=False) if not as_json else _Quiet() as live:
            while True:
                run.refresh_from_db()
                is_over = run.status in (RunStatus.FINISHED, RunStatus.CANCELLED, RunStatus.FAILED, RunStatus.NEEDS_FORK)
                is_over = is_over or (thread is not None and not thread.is_alive())
                while page := event_page(run, after):
                    after = page[-1]["seq"]
                    for event in page:
                        line = progress.take(event)
                        if as_json:
                            self.stdout.write(json.dumps({"type": "event", **event}, ensure_ascii=False))
                        elif line:
                            live.console.print(line, markup=False, highlight=False, soft_wrap=True)
                if not as_json:
                    live.update(progress.table(run), refresh=True)
                if is_over:
                    return
                time.sleep(POLL_S)

    def _end(self, run: Run, *, as_json: bool) -> None:
        run.refresh_from_db()
        outcome = run.outcome or {}
        if as_json:
            self.stdout.write(json.dumps(run_head(run), ensure_ascii=False))
        else:
            self.stdout.write(f"\n{run.status}: {outcome.get('reason') or run.status_reason}")
            if found := final_answer_of(run):
                self.stdout.write(f"answer: {found['outcome']}. {found['reason']}")
            self.stdout.write(f"run {run.public_id}; page /runs/{run.public_id}/")
        if run.status != RunStatus.FINISHED:
            sys.exit(1)
        if outcome.get("accepted") is not True:
            sys.exit(2)


class _Quiet:
    """Null object for the live table when JSON is printed."""

    console = Console(quiet=True)

    def __enter__(self) -> "_Quiet":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def update(self, table: object, *, refresh: bool) -> None:
        """Draw nothing."""


def _plan(options: dict[str, Any]) -> Plan:
    """The plan from the arguments. Raises `CommandError` for invalid values."""
    aliases: dict[str, str] = {}
    for given in options["alias"]:
        role, separator, name = given.partition("=")
        aliases[role if separator else ""] = name if separator else given
    if not aliases:
        aliases[""] = next(iter(usable_aliases()), "")
    overrides: dict[str, Any] = {}
    for given in options["set"]:
        name, separator, value = given.partition("=")
        if not separator:
            raise CommandError(f"--set needs NAME=VALUE, not {given}.")
        try:
            overrides[name] = json.loads(value)
        except ValueError:
            overrides[name] = value
    for which in ("tokens", "calls", "seconds"):
        if options[f"budget_{which}"] is not None and options[f"budget_{which}"] <= 0:
            raise CommandError(f"--budget-{which} must be more than 0.")
    return Plan(
        scaffold=options["scaffold"],
        preset=options["preset"] or SCAFFOLDS[options["scaffold"]].first_preset,
        overrides=overrides,
        role_aliases=aliases,
        budget=Budget(tokens=options["budget_tokens"], calls=options["budget_calls"], seconds=options["budget_seconds"]),
        seed=options["seed"],
        max_new_tokens=options["max_new_tokens"],
        temperature=options["temperature"],
        capture=options["record_tokens"],
    )
