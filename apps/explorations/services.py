"""Writes of explorations: start, fork and worked example. Each returns a queued `Run`."""

import uuid
from dataclasses import replace

from django.conf import settings
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction

from apps.accounts.models import User
from apps.explorations import worked_example
from apps.explorations.starting.given import given_of
from apps.explorations.starting.plans import Plan, plan_spec, problem_text, usable_aliases
from apps.problems.models import Problem, ProblemVersion
from apps.reasoning.domain.tools import scope_of
from apps.reasoning.inference.aliases import load_aliases
from apps.reasoning.scaffolds.spec import Budget, RunSpec
from apps.runs.access import run_may_start
from apps.runs.models import Run
from apps.runs.services import run_create


def plan_start(
    *, user: User | None, problem: Problem, plan: Plan, start: bool = True, start_id: uuid.UUID | None = None
) -> Run:
    """Validate and freeze the plan on the newest version of `problem`, and queue the run.

    `user` is None for the command line. With `start` false the caller drives the run; no task is sent.
    Raises `ValidationError` (keys are the form's fields), `PermissionDenied`, `AliasError`.
    """
    _may_start(user)
    if user is None and scope_of(plan.overrides) != "none":
        raise ValidationError({"earlier_lemmas": "A run searches lemmas that its owner may see. Name the owner with --user."})
    version = problem.current
    spec = plan_spec(plan, problem_text(version), usable_aliases(), given=given_of(problem, user))
    return run_create(owner=user, problem_version=version, title=problem.title, spec=spec, start=start, start_id=start_id)


def exploration_fork(*, user: User, run: Run, plan: Plan, start_id: uuid.UUID | None = None) -> Run:
    """Start a new run on the same problem version. Calls of `run` with an equal request are taken over, not repeated.

    A limit in money, which the form does not have, is that of `run`. Raises the errors of `plan_start`, and `PermissionDenied`
    for the worked example and imported runs.
    """
    _may_start(user)
    if run.is_authored:
        raise PermissionDenied("The worked example cannot be forked: its texts were written by people, not by a model.")
    if run.is_imported:
        raise PermissionDenied("An imported run cannot be forked: its calls were not made here. Explore its problem instead.")
    given = given_of(run.problem_version.problem, user)
    spec = plan_spec(_with_money_of(run, plan), problem_text(run.problem_version), usable_aliases(), given=given)
    if (redraws := run.spec.get("redraws")) and spec.seed == run.spec["seed"]:  # Its calls have these seeds.
        spec = spec.model_copy(update={"redraws": redraws})
    return run_create(
        owner=user, problem_version=run.problem_version, title=run.title, spec=spec, forked_from=run, start_id=start_id
    )


def _with_money_of(run: Run, plan: Plan) -> Plan:
    """The plan with the run's limit in money. Raises `ValidationError` for a model whose price the run does not state."""
    if not run.budget.get("money"):
        return plan
    budget, prices = Budget.model_validate(run.budget), RunSpec.model_validate(run.spec).prices
    if missing := {name for name in plan.role_aliases.values() if name} - set(prices):
        known = " or ".join(sorted(prices))
        words = f"The run that you fork has a limit in money, and no price of {min(missing)}. Choose {known}."
        raise ValidationError({"alias": words})
    return replace(plan, budget=plan.budget.model_copy(update={"money": budget.money}), prices=prices)


WORKED_EXAMPLE_SEED = 1


def worked_example_spec() -> RunSpec:
    """The fixed specification of the worked example: its texts are stored under fixed call keys."""
    roles = {"": worked_example.ALIAS}
    plan = Plan(worked_example.SCAFFOLD, "", worked_example.PARAMS, roles, seed=WORKED_EXAMPLE_SEED)
    text = worked_example.problem()
    return plan_spec(plan, text, load_aliases(settings.MODELS_FILE), authored=True)


@transaction.atomic
def worked_example_start(*, user: User | None, start: bool = True, start_id: uuid.UUID | None = None) -> Run:
    """Play the worked example: authored texts through the real scaffold, labelled as authored. Raises `PermissionDenied`."""
    _may_start(user)
    return run_create(
        owner=user,
        problem_version=_worked_example_version(),
        title=worked_example.problem().title,
        spec=worked_example_spec(),
        is_authored=True,
        start=start,
        start_id=start_id,
    )


def _worked_example_version() -> ProblemVersion:
    """The problem version with the example's statement; created if missing."""
    text = worked_example.problem()
    problem, _ = Problem.objects.get_or_create(
        slug=worked_example.SLUG,
        defaults={"title": text.title, "topic": worked_example.TOPIC, "source": "Worked example", "origin": "worked example"},
    )
    found = problem.versions.filter(statement=text.statement).order_by("-number").first()
    newest = problem.versions.order_by("-number").first()
    return found or problem.versions.create(number=newest.number + 1 if newest else 1, statement=text.statement)


def _may_start(user: User | None) -> None:
    if user is not None and not run_may_start(user):
        raise PermissionDenied("Only coaches and researchers may start explorations.")
