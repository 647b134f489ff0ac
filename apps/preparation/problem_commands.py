"""Shared code of commands about many problems: choose problems and models, start each run once, wait for the results."""

import contextlib
import time
from argparse import ArgumentParser
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db.models import QuerySet

from apps.graders.planning.plans import PlanWrong
from apps.graders.starting import models_for_grading
from apps.preparation.quality import question_id
from apps.preparation.runs import spec_estimate
from apps.problems.models import Problem
from apps.processes.local import http_backend, is_stack_up
from apps.reasoning.inference.aliases import Alias, load_aliases
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.ports import Dispatcher
from apps.reasoning.scaffolds.spec import RunSpec
from apps.runs.journal.run_journal import JournalWriter, RunJournal
from apps.runs.models import LIVE, Run
from apps.runs.owners.execution import event_sinks, run_drive
from apps.runs.services import run_create

LARGE_CALLS = 5_000
POLL_S = 1.0
Asked = tuple[Problem, RunSpec]


class ProblemsCommand(BaseCommand):
    """A command that starts one run per problem. Repeating the command starts no run twice."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("problem", nargs="*", help="slugs of problems of the library")
        parser.add_argument("--all", action="store_true", help="every problem of the library")
        parser.add_argument("--origin", default="", help="the problems of one import")
        parser.add_argument("--estimate", action="store_true", help="only estimate the cost")
        parser.add_argument("--yes", action="store_true", help="start a large run without confirmation")
        parser.add_argument("--no-wait", action="store_true", help="start the runs without waiting for them")
        parser.add_argument("--again", type=int, default=0, metavar="N", help="number of a repetition, to ask again")

    def problems(self, options: Mapping[str, Any]) -> list[Problem]:
        """The chosen problems. Raises `CommandError` for none and for an unknown slug."""
        chosen: QuerySet[Problem] = Problem.objects.all()  # Includes unlisted problems, if they are named.
        if slugs := options["problem"]:
            chosen = chosen.filter(slug__in=slugs)
            if missing := sorted(set(slugs) - set(chosen.values_list("slug", flat=True))):
                raise CommandError(f"No problem {', '.join(missing)} in the library. Nothing was started.")
        elif options["origin"]:
            chosen = chosen.filter(origin=options["origin"])
        elif options["all"]:
            chosen = chosen.filter(is_listed=True)
        else:
            raise CommandError("Name problems, or use --origin or --all.")
        found = list(chosen.prefetch_related("reference_solutions").order_by("slug"))
        if not found:
            raise CommandError("No problem matches. Nothing was started.")
        return found

    def start_all(self, asked: Sequence[Asked], options: Mapping[str, Any]) -> list[Run]:
        """Print the cost, start new runs and wait for all. With --estimate start none and return []."""
        fresh = [one for one in asked if not Run.objects.filter(start_id=question_id(*one, options["again"])).exists()]
        costs = [spec_estimate(spec) for _, spec in fresh]
        calls, most = sum(one.calls_expected for one in costs), sum(one.calls_max for one in costs)
        tokens = sum(one.tokens_expected for one in costs)
        if len(fresh) < len(asked):
            self.stdout.write(f"{len(asked) - len(fresh)} of {len(asked)} were already started.")
        self.stdout.write(f"{len(fresh)} runs. About {calls:,} calls and {tokens:,} tokens, at most {most:,} calls.")
        if options["estimate"]:
            return []
        if most > LARGE_CALLS and not options["yes"]:
            raise CommandError(f"This may make {most:,} calls. Add --yes to start it.")
        here = not is_stack_up()
        if here:
            _check_here(asked)
        runs = [
            run_create(
                owner=None, problem_version=problem.current, title=problem.title, spec=spec, start=not here,
                start_id=question_id(problem, spec, options["again"]),
            )
            for problem, spec in asked
        ]  # fmt: skip
        if here:
            self._drive(runs)
        elif not options["no_wait"]:
            self._wait(runs)
        return runs

    def _drive(self, runs: Sequence[Run]) -> None:
        """Drive the runs one by one in this process; calls of a run are concurrent."""
        writer = JournalWriter(sinks=event_sinks())
        try:
            for run in runs:
                if run.is_live:
                    run_drive(run.pk, dispatcher_for=_model_servers, writer=writer)
                self._report(run)
        finally:
            writer.close()

    def _wait(self, runs: Sequence[Run]) -> None:
        waiting = {run.pk: run for run in runs}
        try:
            while waiting:
                ended = Run.objects.filter(pk__in=waiting).exclude(status__in=LIVE).values_list("pk", flat=True)
                for pk in list(ended):
                    self._report(waiting.pop(pk))
                if waiting:
                    time.sleep(POLL_S)
        except KeyboardInterrupt:
            raise CommandError("Stopped waiting; the runs continue. Repeat the command to wait for them.") from None

    def _report(self, run: Run) -> None:
        run.refresh_from_db()
        reason = (run.outcome or {}).get("reason") or run.status_reason
        self.stdout.write(f"{run.problem_version.problem.slug}: {run.get_status_display()}. {reason}")


def model_named(name: str) -> Alias:
    """A model of models.toml by name; "" means the first one. Raises `CommandError`."""
    known = models_for_grading()
    found = known.get(name or next(iter(known), ""))
    if found is None:
        raise CommandError(f"No model {name} in models.toml. Choose one of: {', '.join(known) or 'none'}.")
    return found


def _check_here(asked: Sequence[Asked]) -> None:
    """Raise `PlanWrong` if a model needs the inference worker, as the stack is not running."""
    aliases = load_aliases(settings.MODELS_FILE)
    names = {role.alias for _, spec in asked for role in spec.roles.values()}
    if any(aliases[name].backend != "openai_http" for name in names):
        raise PlanWrong("One of these models runs in the inference worker. Start the stack with `make up` and try again.")


@contextlib.asynccontextmanager
async def _model_servers(run: Run, _journal: RunJournal) -> AsyncIterator[Dispatcher]:
    """Send the calls of a run from this process to the model servers of its aliases."""
    aliases = load_aliases(settings.MODELS_FILE)
    names = sorted({role.alias for role in RunSpec.model_validate(run.spec).roles.values()})
    backends = {name: http_backend(aliases[name]) for name in names}
    try:
        yield LocalDispatcher(backends, concurrency={name: aliases[name].concurrency for name in names})
    finally:
        for backend in backends.values():
            await backend.close()
