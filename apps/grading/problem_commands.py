"""What the commands about many problems share: choosing problems and models, starting runs once, waiting for their ends."""

import contextlib
import time
from argparse import ArgumentParser
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db.models import QuerySet

from apps.grading.plans import PlanWrong
from apps.grading.preparing_runs import spec_estimate
from apps.grading.quality import same_question
from apps.grading.starting import models_for_grading
from apps.problems.models import Problem
from apps.reasoning.inference.aliases import Alias, load_aliases
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.ports import Dispatcher
from apps.reasoning.scaffolds.spec import RunSpec
from apps.runs.execution import event_sinks, run_drive
from apps.runs.journal import JournalWriter, RunJournal
from apps.runs.local import http_backend, is_stack_up
from apps.runs.models import LIVE, Run
from apps.runs.services import run_create

LARGE_CALLS = 5_000
POLL_S = 1.0
Asked = tuple[Problem, RunSpec]


class ProblemsCommand(BaseCommand):
    """A command that starts a run for each of many problems. The same command again starts nothing twice."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("problem", nargs="*", help="slugs of problems of the library")
        parser.add_argument("--all", action="store_true", help="every problem of the library")
        parser.add_argument("--origin", default="", help="the problems of one import")
        parser.add_argument("--estimate", action="store_true", help="say what it would cost, and stop")
        parser.add_argument("--yes", action="store_true", help="start a large one without asking")
        parser.add_argument("--no-wait", action="store_true", help="start the runs and leave them to the stack")
        parser.add_argument("--again", type=int, default=0, metavar="N", help="ask anew, under another number")

    def problems(self, options: Mapping[str, Any]) -> list[Problem]:
        """The problems that are meant. Raises `CommandError` for none and for a slug that names nothing."""
        chosen: QuerySet[Problem] = Problem.objects.all()  # Those beside the library too, where they are named.
        if slugs := options["problem"]:
            chosen = chosen.filter(slug__in=slugs)
            if missing := sorted(set(slugs) - set(chosen.values_list("slug", flat=True))):
                raise CommandError(f"There is no problem {', '.join(missing)}.")
        elif options["origin"]:
            chosen = chosen.filter(origin=options["origin"])
        elif options["all"]:
            chosen = chosen.filter(is_listed=True)
        else:
            raise CommandError("Name problems, or give --origin or --all.")
        found = list(chosen.prefetch_related("reference_solutions").order_by("slug"))
        if not found:
            raise CommandError("No problem is meant by that.")
        return found

    def start_all(self, asked: Sequence[Asked], options: Mapping[str, Any]) -> list[Run]:
        """Tell the cost, start what was not started before, wait for it. Nothing where only the estimate is wanted."""
        fresh = [one for one in asked if not Run.objects.filter(start_id=same_question(*one, options["again"])).exists()]
        costs = [spec_estimate(spec) for _, spec in fresh]
        calls, most = sum(one.calls_expected for one in costs), sum(one.calls_max for one in costs)
        tokens = sum(one.tokens_expected for one in costs)
        if len(fresh) < len(asked):
            self.stdout.write(f"{len(asked) - len(fresh)} of {len(asked)} were started before.")
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
                start_id=same_question(problem, spec, options["again"]),
            )
            for problem, spec in asked
        ]  # fmt: skip
        if here:
            self._drive(runs)
        elif not options["no_wait"]:
            self._wait(runs)
        return runs

    def _drive(self, runs: Sequence[Run]) -> None:
        """One after the other in this process; the calls of each go out at once."""
        writer = JournalWriter(sinks=event_sinks())
        try:
            for run in runs:
                if run.is_live:
                    run_drive(run.pk, dispatcher_for=_model_servers, writer=writer)
                self._tell(run)
        finally:
            writer.close()

    def _wait(self, runs: Sequence[Run]) -> None:
        waiting = {run.pk: run for run in runs}
        try:
            while waiting:
                ended = Run.objects.filter(pk__in=waiting).exclude(status__in=LIVE).values_list("pk", flat=True)
                for pk in list(ended):
                    self._tell(waiting.pop(pk))
                if waiting:
                    time.sleep(POLL_S)
        except KeyboardInterrupt:
            raise CommandError("Stopped waiting; the stack goes on. The same command waits again.") from None

    def _tell(self, run: Run) -> None:
        run.refresh_from_db()
        said = (run.outcome or {}).get("reason") or run.status_reason
        self.stdout.write(f"{run.problem_version.problem.slug}: {run.get_status_display()}. {said}")


def model_named(name: str) -> Alias:
    """A model of models.toml by its name, the first one where that is empty. Raises `CommandError`."""
    known = models_for_grading()
    found = known.get(name or next(iter(known), ""))
    if found is None:
        raise CommandError(f"There is no model {name} in models.toml; there are {', '.join(known) or 'none'}.")
    return found


def _check_here(asked: Sequence[Asked]) -> None:
    """Raises `PlanWrong` where a model lives in the inference worker and no stack is there."""
    aliases = load_aliases(settings.MODELS_FILE)
    names = {role.alias for _, spec in asked for role in spec.roles.values()}
    if any(aliases[name].backend != "openai_http" for name in names):
        raise PlanWrong("A model of these runs inside the inference worker. Start the stack with `make up`, then try again.")


@contextlib.asynccontextmanager
async def _model_servers(run: Run, _journal: RunJournal) -> AsyncIterator[Dispatcher]:
    """Calls of a run go from this process to the model servers of its aliases."""
    aliases = load_aliases(settings.MODELS_FILE)
    names = sorted({role.alias for role in RunSpec.model_validate(run.spec).roles.values()})
    backends = {name: http_backend(aliases[name]) for name in names}
    try:
        yield LocalDispatcher(backends, concurrency={name: aliases[name].concurrency for name in names})
    finally:
        for backend in backends.values():
            await backend.close()
