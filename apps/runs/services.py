"""Writes on runs: create, queue, resume and command."""

import math
import uuid
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.problems.models import ProblemVersion
from apps.reasoning.domain.control import CommandName
from apps.reasoning.domain.events import RunCreated
from apps.reasoning.scaffolds.spec import RunSpec
from apps.runs.access import run_may_steer
from apps.runs.calls.sending import stop_calls
from apps.runs.models import IMPORTED, LIVE, Run, RunCommand, RunEvent, RunStatus, aliases_text
from apps.runs.owners.leases import lease_mark_dispatched
from apps.runs.queues import orchestrate

COMMANDS: tuple[CommandName, ...] = (
    "pause", "resume", "cancel", "hint", "accept_lemma", "reject_lemma", "inject_lemma", "write_up", "extend_budget",
)  # fmt: skip
LARGEST_AMOUNT = 10**12
LONGEST_TEXT = 50_000
_NEEDED_ARGS = {"hint": "text", "accept_lemma": "lemma", "reject_lemma": "lemma", "inject_lemma": "statement"}


@transaction.atomic
def run_create(
    *,
    owner: User | None,
    problem_version: ProblemVersion,
    title: str,
    spec: RunSpec,
    forked_from: Run | None = None,
    is_authored: bool = False,
    start: bool = True,
    start_id: uuid.UUID | None = None,
    at: datetime | None = None,
) -> Run:
    """A run with its first event (of the time `at`, else of now); with `start`, its task is sent when the transaction commits.

    The same `start_id` of the same owner gives the same run: a form that is sent twice starts one.
    """
    values = _values(owner, problem_version, title, spec, forked_from, is_authored)
    if start_id is None:
        run = Run.objects.create(**values)
    else:
        run, is_new = Run.objects.get_or_create(start_id=start_id, defaults=values)
        if not is_new:
            if run.owner_id != (owner.pk if owner else None):
                raise ValidationError("No run was started: this form was already sent. Load the page again.")
            return run
    _emit_created(run, spec, at or timezone.now())
    if start:
        run_dispatch(run)
    return run


def _values(
    owner: User | None, version: ProblemVersion, title: str, spec: RunSpec, forked_from: Run | None, is_authored: bool
) -> dict[str, Any]:
    return {
        "owner": owner,
        "problem_version": version,
        "title": title,
        "scaffold": spec.scaffold,
        "preset": spec.preset,
        "spec": spec.model_dump(mode="json"),
        "budget": spec.budget.model_dump(mode="json"),
        "forked_from": forked_from,
        "is_authored": is_authored,
        "last_seq": 1,
        "aliases": aliases_text(role.alias for role in spec.roles.values()),
        "seed": None if spec.preset == IMPORTED else spec.seed,
        "money": 0.0 if spec.prices and {role.alias for role in spec.roles.values()} <= set(spec.prices) else None,
    }


def _emit_created(run: Run, spec: RunSpec, at: datetime) -> None:
    created = RunCreated(
        title=run.title,
        scaffold=spec.scaffold,
        preset=spec.preset,
        aliases={role: chosen.alias for role, chosen in spec.roles.items()},
        params=spec.params,
        seed=spec.seed,
        code_version=spec.code_version,
        authored=run.is_authored,
        forked_from=str(run.forked_from.public_id) if run.forked_from else "",
    )
    RunEvent.objects.create(run=run, seq=1, key=created.kind, kind=created.kind, at=at, body=created.model_dump(mode="json"))


def run_dispatch(run: Run) -> None:
    """Send the run's task after commit. A task that gets lost is sent again by the warden when the mark runs out."""
    if lease_mark_dispatched(run.pk):
        transaction.on_commit(lambda: orchestrate.delay(run.pk), robust=True)


def run_requeue(run: Run) -> bool:
    """Queue a failed run again, so that its recorded calls are not repeated; False if it has not failed."""
    again = {"status": RunStatus.QUEUED, "status_reason": "", "finished_at": None}
    if not Run.objects.filter(pk=run.pk, status=RunStatus.FAILED).update(**again):
        return False
    run_dispatch(run)
    return True


@transaction.atomic
def run_resume(*, run: Run, user: User) -> None:
    """Queue a failed run again; asked for twice, the second is answered like the first.

    Raises `ValidationError` where there is nothing to resume or the user may not.
    """
    if not run_may_steer(user, run):
        raise ValidationError("Only the owner of a run or a researcher may resume it.")
    if run_requeue(run):
        return
    if Run.objects.values_list("status", flat=True).get(pk=run.pk) not in (RunStatus.QUEUED, RunStatus.RUNNING):
        raise ValidationError("Only a failed run can be resumed; fork a finished or cancelled one.")


@transaction.atomic
def command_request(
    *, run: Run, user: User, command_id: uuid.UUID, name: str, args: dict[str, Any] | None = None
) -> RunCommand:
    """Record what a person asks of a live run, once per `command_id`.

    Raises `ValidationError` for an unknown command, missing arguments, a run that has ended, or a user who may only watch.
    """
    args = args or {}
    if not run_may_steer(user, run):
        raise ValidationError("Only the owner of a run or a researcher may steer it.")
    if name not in COMMANDS:
        raise ValidationError(f"There is no command {name}.")
    _check_args(args)
    if name in _NEEDED_ARGS and not str(args.get(_NEEDED_ARGS[name], "")).strip():
        raise ValidationError(f"{name.replace('_', ' ').capitalize()} needs a {_NEEDED_ARGS[name]}.")
    if known := _known_command(run, command_id):
        return known
    status = Run.objects.values_list("status", flat=True).get(pk=run.pk)
    if status not in LIVE:
        raise ValidationError(f"This run is {RunStatus(status).label}; it accepts no commands. Fork it to continue.")
    try:
        with transaction.atomic():
            command = RunCommand.objects.create(run=run, command_id=command_id, name=name, args=args, by=user)
            if name == "extend_budget":
                _extend_budget(run, args)
            if name == "cancel":  # The owner also stops the calls; engines need not wait for it.
                transaction.on_commit(lambda: stop_calls(str(run.public_id)), robust=True)
            return command
    except IntegrityError:  # The same form, sent twice at the same instant: the other one was first.
        return RunCommand.objects.get(run=run, command_id=command_id)


def _known_command(run: Run, command_id: uuid.UUID) -> RunCommand | None:
    return RunCommand.objects.filter(run=run, command_id=command_id).first()


def _check_args(args: dict[str, Any]) -> None:
    """Numbers must be finite and sane, texts short enough to be a prompt and free of NUL, which PostgreSQL keeps in no text."""
    for name, value in args.items():
        if isinstance(value, int | float) and not (math.isfinite(value) and abs(value) <= LARGEST_AMOUNT):
            raise ValidationError(f"The number for {name} must be at most {LARGEST_AMOUNT:,}.")
        if isinstance(value, str) and ("\x00" in value or len(value) > LONGEST_TEXT):
            raise ValidationError(f"The {name} must be plain text of at most {LONGEST_TEXT:,} characters.")


def _extend_budget(run: Run, args: dict[str, Any]) -> None:
    amounts = {which: args[which] for which in ("tokens", "calls", "seconds", "money") if args.get(which)}
    if not amounts or any(not isinstance(more, int | float) or more <= 0 for more in amounts.values()):
        raise ValidationError("Say how many tokens, calls or seconds to add, or how much money, as positive numbers.")
    fresh = Run.objects.select_for_update().get(pk=run.pk)
    without_limit = [which for which in amounts if fresh.budget.get(which) is None]
    if without_limit:
        raise ValidationError(f"This run has no limit of {' and '.join(without_limit)}: there is nothing to extend.")
    fresh.budget = {
        which: limit + amounts.get(which, 0) if limit is not None else None for which, limit in fresh.budget.items()
    }
    fresh.save(update_fields=["budget"])
