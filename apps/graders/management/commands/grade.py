"""`manage.py grade FILE --workflow …`: have a model grader propose points for scripts, one JSON object per script."""

import json
import sys
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from apps.files.kept_columns import output_names, renamed
from apps.files.mark_files import rows_read
from apps.files.tables import FileWrong
from apps.graders.batches.call_files import CallFile
from apps.graders.batches.jobs import Job, RowColumns, jobs_of_rows, jobs_of_versions
from apps.graders.batches.outputs import COLUMNS, row_of, runs_in
from apps.graders.batches.running import Done, grade_all, model_servers, ungraded, workers
from apps.graders.pieces import pieces_known
from apps.graders.planning.answer_lengths import answers_note, answers_of
from apps.graders.planning.naming import VARIANTS, variant_asked, variant_of
from apps.graders.planning.plans import EMPTY, GradingPlan, PlanWrong, Prepared, Total, run_name, total_of
from apps.graders.planning.shown import ViewShown
from apps.processes.local import is_stack_up
from apps.reasoning.domain.errors import AliasError, RunHalted
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.graders.view import GUIDELINES, PARTS, REFERENCE, SCHEME, View
from apps.reasoning.inference.aliases import Alias, load_aliases
from apps.submissions.models import SubmissionVersion

LARGE_CALLS = 5_000


class Command(BaseCommand):
    """Grade scripts of a file or submitted versions. The results never become grades."""

    help = (
        "Have a model grader propose points for scripts. Every call is recorded next to the output, so that a stopped run "
        "continues where it stopped. Manual: docs/grading_scripts.md."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", help="CSV, JSONL or JSON with one script per row")
        parser.add_argument("--submission", action="append", default=[], metavar="ID", help="a submitted version")
        parser.add_argument("--workflow", required=True, metavar="NAME", help=f"{', '.join(GRADERS)}; add variants with +")
        parser.add_argument("--alias", action="append", default=[], metavar="[ROLE=]MODEL", help="for all roles, or for one")
        parser.add_argument("--out", required=True, type=Path, help="JSONL file; calls are recorded in OUT.calls")
        columns = parser.add_argument_group("columns of the file")
        columns.add_argument("--script", default="script", metavar="COLUMN", help="the text to grade (script)")
        columns.add_argument("--statement", default="problem", metavar="COLUMN", help="the problem's text (problem)")
        columns.add_argument("--reference", action="append", default=[], metavar="COLUMN", help="a solution; may be repeated")
        columns.add_argument("--guidelines", default="", metavar="COLUMN", help="guidelines for markers")
        columns.add_argument("--scheme", default="", metavar="COLUMN", help="a marking scheme in an importable format")
        columns.add_argument("--problem", default="", metavar="COLUMN", help="the problem's name")
        columns.add_argument("--paper", default="", metavar="COLUMN", help="the paper's name (paper, else name)")
        columns.add_argument("--keep", action="append", default=[], metavar="COLUMN", help="copied to the output: a mark, …")
        columns.add_argument("--rows", default="", metavar="PATH", help="path of the rows in a JSON file")
        parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the grader")
        parser.add_argument("--max-new-tokens", type=int)
        parser.add_argument("--temperature", type=float)
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--budget-calls", type=int, help="maximum number of calls per script")
        parser.add_argument("--at-once", type=int, default=8, help="number of scripts at a time (8)")
        parser.add_argument("--estimate", action="store_true", help="only estimate the cost")
        parser.add_argument("--yes", action="store_true", help="start a large run without confirmation")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            plan = _plan(options)
            jobs = _jobs(options)
            ended = runs_in(options["out"], options["keep"])
            todo = _Todo(plan, jobs, ended)
            answers = answers_of(plan.workflow, plan.roles)
            total = total_of(plan, todo.jobs, todo.known, answers)
            self._report_names(options["keep"])
            self._report_view(plan, options)
            self._report_estimate(total, todo, answers_note(total.roles, answers, plan.roles))
            if options["estimate"] or not todo.count:
                return
            if total.calls_max > LARGE_CALLS and not options["yes"]:
                raise CommandError(f"This may make {total.calls_max:,} calls. Add --yes to start it.")
            self._grade(plan, todo, ended, options)
        except (AliasError, FileWrong, PlanWrong) as error:
            raise CommandError(str(error)) from error

    def _report_names(self, kept: list[str]) -> None:
        for own, name in renamed(output_names(COLUMNS, kept)).items():
            self.stdout.write(f"The file's column “{own}” is kept; the grader's column is named “{name}”.")

    def _report_view(self, plan: GradingPlan, options: dict[str, Any]) -> None:
        view = plan.view or View()
        self.stdout.write(f"View of the grader: {view.words}, in addition to the script.")
        given = {REFERENCE: ", ".join(options["reference"]), GUIDELINES: options["guidelines"], SCHEME: options["scheme"]}
        for part, columns in given.items():
            if columns and part not in view.parts:
                other = f"{plan.workflow}+{part}"
                hint = f" Use --workflow {other} to show them." if other in VARIANTS else ""
                self.stdout.write(f"The grader is not shown “{columns}”: its view excludes {PARTS[part]}.{hint}")

    def _report_estimate(self, total: Total, todo: "_Todo", basis: str) -> None:
        if todo.done:
            self.stdout.write(f"{todo.done} of {todo.all} are already in the output.")
        if todo.troubles:
            reasons = ", ".join(f"{count} {reason}" for reason, count in todo.troubles.most_common())
            number = sum(todo.troubles.values())
            what = "script" if number == 1 == todo.all else "scripts"
            self.stdout.write(f"{number} of {todo.all} {what} cannot be graded and will be unscored without a call: {reasons}.")
        expected = f"About {_counted(total.calls_expected, 'call')} and {total.tokens_expected:,} tokens"
        most = f"at most {_counted(total.calls_max, 'call')}, plus one for each unreadable answer"
        self.stdout.write(f"{_counted(total.scripts, 'script')}. {expected}, {most}.")
        if total.scripts:
            self.stdout.write(basis)

    def _grade(self, plan: GradingPlan, todo: "_Todo", ended: frozenset[str], options: dict[str, Any]) -> None:
        out: Path = options["out"]
        models = {name: role.alias for name, role in plan.roles.items()}
        named = variant_asked(plan.workflow, {**plan.overrides, "view": plan.view}).name
        shown = ViewShown(view=plan.view or View()).text
        counts: Counter[str] = Counter()
        with out.open("a", encoding="utf-8") as output, CallFile(Path(f"{out}.calls"), ended) as calls:

            def write(done: Done) -> None:
                output.write(json.dumps(row_of(done, named, shown, models), ensure_ascii=False) + "\n")
                output.flush()
                counts.update(
                    scripts=1,
                    unscored=int(done.grading.points is None),
                    calls=done.spent.online.calls,
                    tokens=done.spent.online.tokens,
                    prepared_calls=done.spent.prepared.calls,
                    prepared_tokens=done.spent.prepared.tokens,
                )
                self.stdout.write(f"{counts['scripts']}/{todo.count} {done.job.paper}: {done.grading.sentence}")

            for one in todo.ungraded:
                write(one)
            try:
                async_to_sync(_run)(plan, todo.jobs, calls, write, options["at_once"])
            except* RunHalted as group:
                reason = group.exceptions[0]
                raise CommandError(f"{reason} Results so far are kept. Repeat the command to continue.") from None
        graded = f"{_counted(counts['scripts'], 'script')}, {counts['unscored']} of them unscored"
        self.stdout.write(f"{graded}; {_counted(counts['calls'], 'call')}, {counts['tokens']:,} tokens.")
        if prepared := counts["prepared_calls"]:
            tokens = f"{counts['prepared_tokens']:,} tokens"
            self.stdout.write(f"To prepare the problems, once each: {_counted(prepared, 'call')}, {tokens}.")


class _Todo:
    """Scripts of a file that are not in the output yet: those to grade, and those that cannot be graded.

    `known`: pieces prepared before, by statement. Raises `PlanWrong` if no script can be graded and not all are empty.
    """

    def __init__(self, plan: GradingPlan, jobs: list[Job], ended: frozenset[str]) -> None:
        troubles = [plan.trouble(job) for job in jobs]
        if all(troubles) and (found := next((pair for pair in zip(jobs, troubles, strict=True) if pair[1] != EMPTY), None)):
            raise PlanWrong(f"{found[0].paper}: {found[1]}.")
        good = [job for job, trouble in zip(jobs, troubles, strict=True) if not trouble]
        self.known: dict[str, Prepared] = {
            statement: pieces_known(statement, plan.roles) for statement in {job.problem.statement for job in good}
        }
        self.jobs = [job for job in good if run_name(plan.spec(job, self.known[job.problem.statement])) not in ended]
        lost = [ungraded(plan, job, trouble) for job, trouble in zip(jobs, troubles, strict=True) if trouble]
        self.ungraded = [one for one in lost if one.run not in ended]
        self.troubles = Counter(filter(None, troubles))
        self.all = len(jobs)

    @property
    def count(self) -> int:
        return len(self.jobs) + len(self.ungraded)

    @property
    def done(self) -> int:
        """Number of scripts already in the output."""
        return self.all - self.count


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


async def _run(plan: GradingPlan, jobs: list[Job], calls: CallFile, write: Any, at_once: int) -> None:
    chosen = list({alias.name: alias for alias in plan.aliases.values()}.values())
    is_remote = all(alias.backend == "openai_http" for alias in chosen)
    # The formula check runs in a worker of the stack.
    where = model_servers if is_remote and not (plan.overrides.get("marks") and is_stack_up()) else workers
    async with where(chosen) as dispatcher_for:
        await grade_all(plan, jobs, calls, dispatcher_for, write, at_once=max(1, at_once))


def _plan(options: dict[str, Any]) -> GradingPlan:
    known = {
        name: alias
        for name, alias in load_aliases(settings.MODELS_FILE).items()
        if alias.enabled and not alias.is_authored and not alias.is_tool
    }
    aliases: dict[str, Alias] = {}
    for given in options["alias"] or [next(iter(known), "")]:
        role, separator, name = given.partition("=")
        role, name = (role, name) if separator else ("", given)
        if name not in known:
            raise PlanWrong(f"No model {name} in models.toml. Choose one of: {', '.join(known) or 'none'}.")
        aliases[role] = known[name]
    here = all(alias.backend == "openai_http" for alias in aliases.values())
    if not here and not options["estimate"] and not is_stack_up():
        raise PlanWrong("One of these models runs in the inference worker. Start the stack with `make up` and try again.")
    variant = variant_of(options["workflow"])
    overrides = dict(_override(given) for given in options["set"]) | variant.overrides
    if variant.view.guidelines and options["file"] and not options["guidelines"]:
        raise PlanWrong(f"{variant.name} shows guidelines for markers. Name their column with --guidelines.")
    plan = GradingPlan(
        variant.grader.name, aliases, overrides, options["max_new_tokens"], options["temperature"], options["seed"],
        options["budget_calls"],
    )  # fmt: skip
    _ = plan.roles
    return plan


def _override(given: str) -> tuple[str, Any]:
    name, separator, value = given.partition("=")
    if not separator:
        raise PlanWrong(f"--set needs NAME=VALUE, not {given}.")
    if name == "view":
        raise PlanWrong("The view is part of the grader's name, not a parameter. Use, for example, single_turn+guidelines.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _jobs(options: dict[str, Any]) -> list[Job]:
    if bool(options["file"]) == bool(options["submission"]):
        raise PlanWrong("Give either a file or --submission.")
    if options["submission"]:
        return jobs_of_versions([_version(given) for given in options["submission"]])
    columns = RowColumns(
        script=options["script"], statement=options["statement"], references=options["reference"],
        guidelines=options["guidelines"], scheme=options["scheme"], problem=options["problem"], paper=options["paper"],
        kept=options["keep"],
    )  # fmt: skip
    found = rows_read(_bytes(options["file"]), options["rows"])
    if len(found) != 1:
        raise PlanWrong("--rows matches several lists. Name one of them.")
    return jobs_of_rows(next(iter(found.values())), columns)


def _version(given: str) -> SubmissionVersion:
    try:
        return SubmissionVersion.objects.get(public_id=given)
    except (SubmissionVersion.DoesNotExist, ValidationError):
        raise PlanWrong(f"No submitted version with the id {given}.") from None


def _bytes(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise PlanWrong(f"Could not read {name}: {error.strerror}.") from error
