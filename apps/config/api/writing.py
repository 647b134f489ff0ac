"""Writing operations on runs: start, fork, steer, resume, and verdicts on lemmas. The rules are those of the pages."""

import uuid
from dataclasses import replace
from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.config.api import schemas as shapes
from apps.config.api.once import KEY, once
from apps.config.api.operations import api, run_out
from apps.config.api.sent import CommandIn, CommandOut, PlanIn, StartIn, VerdictIn
from apps.config.api.tokens import WritingTokenAuth
from apps.explorations.services import exploration_fork, plan_start
from apps.explorations.starting.given import given_of
from apps.explorations.starting.plans import Plan, is_large, plan_estimate, plan_of_spec, usable_aliases
from apps.lemmas.models import Lemma
from apps.problems.access import problem_get_for
from apps.problems.models import Problem
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.spec import Budget, RunSpec
from apps.runs.access import run_get_for, run_may_start, run_may_steer
from apps.runs.models import Run
from apps.runs.services import command_request, run_resume

WRITING = WritingTokenAuth()
_TEXTS = ("text", "lemma", "statement", "proof", "reason")
_AMOUNTS = ("tokens", "calls", "seconds")
_SAMPLING = ("seed", "max_new_tokens", "temperature", "capture")


@api.post("/runs", response={201: shapes.RunOut}, auth=WRITING, url_name="run_start", summary="Start a run")
def run_start(request: HttpRequest, body: StartIn, key: str | None = KEY) -> Any:
    """Start a run on the newest statement of a problem, with the rules of the start page."""
    user = _starter(request)
    problem = problem_get_for(user, body.problem)
    scaffold = SCAFFOLDS.get(body.scaffold)
    plan = Plan(body.scaffold, body.preset or (scaffold.first_preset if scaffold else ""))

    def work() -> shapes.RunOut:
        chosen = _changed(plan, body)
        _require_confirmed(chosen, problem, user, confirmed=body.confirm)
        return run_out(plan_start(user=user, problem=problem, plan=chosen))

    return once(request, key, work)


@api.post("/runs/{uuid:run_id}/fork", response={201: shapes.RunOut}, auth=WRITING, url_name="run_fork", summary="Fork a run")
def run_fork(request: HttpRequest, run_id: uuid.UUID, body: PlanIn, key: str | None = KEY) -> Any:
    """Start a new run with the plan of this one; given fields replace its own. Calls with equal requests are taken over."""
    user = _starter(request)
    run = run_get_for(user, run_id)
    if run.is_authored or not run.is_attempt:
        raise Http404("This run cannot be forked, since no scaffold searched here. Start a run on its problem instead.")

    def work() -> shapes.RunOut:
        chosen = _changed(_plan_of(run), body)
        _require_confirmed(chosen, run.problem_version.problem, user, confirmed=body.confirm)
        return run_out(exploration_fork(user=user, run=run, plan=chosen))

    return once(request, key, work)


@api.post(
    "/runs/{uuid:run_id}/commands", response={202: CommandOut}, auth=WRITING, url_name="run_command", summary="Steer a run"
)
def run_command(request: HttpRequest, run_id: uuid.UUID, body: CommandIn, key: str | None = KEY) -> Any:
    """Pause, resume or cancel a run, give a hint, accept, reject or inject a lemma, ask for the proof, or extend the budget."""
    args = {name: text for name in _TEXTS if (text := getattr(body, name).strip())}
    amounts = {name: amount for name in _AMOUNTS if (amount := getattr(body, name)) is not None}
    return _commanded(request, run_id, key, body.name, args | amounts)


@api.post(
    "/runs/{uuid:run_id}/lemmas/{path:lemma}/verdict",
    response={202: CommandOut}, auth=WRITING, url_name="lemma_verdict", summary="Judge a lemma",
)  # fmt: skip
def lemma_verdict(request: HttpRequest, run_id: uuid.UUID, lemma: str, body: VerdictIn, key: str | None = KEY) -> Any:
    """Accept or reject a lemma of a live run. The verdict is a person's: the run is marked as assisted."""
    run = run_get_for(user_of(request), run_id)
    if "\0" in lemma or not Lemma.objects.filter(run=run, lemma=lemma).exists():
        raise Http404("This run has no such lemma. GET /lemmas lists its lemmas with their ids.")
    name = "accept_lemma" if body.accepted else "reject_lemma"
    reason = body.reason.strip()
    return _commanded(request, run_id, key, name, {"lemma": lemma} | ({"reason": reason} if reason else {}))


@api.post(
    "/runs/{uuid:run_id}/resume",
    response={202: shapes.RunOut},
    auth=WRITING,
    url_name="run_resume",
    summary="Resume a failed run",
)
def run_resume_(request: HttpRequest, run_id: uuid.UUID, key: str | None = KEY) -> Any:
    """Queue a failed run again; finished calls are not repeated. A paused run is resumed by the command resume."""
    user = user_of(request)
    run = _steered(user, run_id)

    def work() -> shapes.RunOut:
        run_resume(run=run, user=user)
        run.refresh_from_db()
        return run_out(run)

    return once(request, key, work)


def _commanded(request: HttpRequest, run_id: uuid.UUID, key: str | None, name: str, args: dict[str, Any]) -> dict[str, Any]:
    user = user_of(request)
    run = _steered(user, run_id)

    def work() -> CommandOut:
        asked = command_request(run=run, user=user, command_id=uuid.uuid4(), name=name, args=args)
        values = {one: getattr(asked, one) for one in ("name", "args", "state", "reason", "requested_at")}
        return CommandOut(id=asked.command_id, **values)

    return once(request, key, work)


def _starter(request: HttpRequest) -> User:
    user = user_of(request)
    if not run_may_start(user):
        raise PermissionDenied("Only coaches and researchers may start explorations.")
    return user


def _steered(user: User, run_id: uuid.UUID) -> Run:
    run = run_get_for(user, run_id)
    if not run_may_steer(user, run):
        raise PermissionDenied("Only the owner of a run or a researcher may steer it.")
    return run


def _plan_of(run: Run) -> Plan:
    try:
        return plan_of_spec(RunSpec.model_validate(run.spec))
    except ValueError:
        raise ValidationError("This run was made by an older version, so its plan cannot be read. Start a new run.") from None


def _changed(plan: Plan, body: PlanIn) -> Plan:
    """The plan with the fields that were sent."""
    given: dict[str, Any] = {name: value for name in _SAMPLING if (value := getattr(body, name)) is not None}
    if body.budget is not None:
        given["budget"] = Budget(**body.budget.model_dump())
    models = {"": body.model} if body.model else {}
    given |= {"overrides": {**plan.overrides, **body.params}, "role_aliases": {**plan.role_aliases, **models, **body.roles}}
    return replace(plan, **given)


def _require_confirmed(plan: Plan, problem: Problem, user: User, *, confirmed: bool) -> None:
    """Raise `ValidationError` for a large run that was not confirmed, as the start page does."""
    estimate = plan_estimate(plan, usable_aliases(), given_of(problem, user))
    if is_large(estimate, plan.budget) and not confirmed:
        most = min(estimate.calls_max, plan.budget.calls or estimate.calls_max)
        raise ValidationError({"confirm": f"This run may make {most:,} calls. Send true to start it, or limit the calls"})
