"""Runs about a problem itself: estimate their cost, start them, list the last ones."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied

from apps.accounts.models import User
from apps.graders.batches.jobs import material_of, text_of
from apps.graders.pieces import pieces_known
from apps.graders.planning.answer_lengths import LENGTHS, answers_note, answers_of
from apps.graders.planning.plans import PlanWrong, asks_for_json, roles_played
from apps.problems.models import Problem, ProblemVersion
from apps.reasoning.domain.errors import ParamsError
from apps.reasoning.graders.lengths import prompt_tokens, with_lengths
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.pieces import preparing
from apps.reasoning.graders.problems.preparer import Preparer
from apps.reasoning.graders.registry import PREPARERS
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.spec import BATCH, RunSpec
from apps.runs.access import run_may_start
from apps.runs.models import LIVE, Run
from apps.runs.services import run_create

RUNS_SHOWN = 5


def problem_spec(
    program: Preparer, stated: ProblemVersion, aliases: Mapping[str, Alias], overrides: Mapping[str, Any] | None = None
) -> RunSpec:
    """The run spec for a problem. Raises `PlanWrong`, which says what to change."""
    roles = roles_played(program, aliases)
    given = {**material_of(stated), "prepared": pieces_known(stated.statement, roles), **(overrides or {})}
    if asks_for_json(program, aliases):
        given = {"structured": True, **given}
    try:
        params = program.read_params(given)
    except ParamsError as error:
        raise PlanWrong(str(error)) from error
    if not isinstance(params, Material):
        raise TypeError(f"the parameters of {program.name} are not Material")
    if lack := program.lacks(params):
        raise PlanWrong(lack)
    return RunSpec(
        problem=text_of(stated),
        scaffold=program.name,
        params=params.model_dump(mode="json"),
        roles=roles,
        prompt_hashes=dict(program.prompts),
        code_version=settings.VERSION,
        priority=BATCH,
    )


def spec_estimate(spec: RunSpec) -> Estimate:
    """Estimate the cost of a run. For preparation it uses the lengths of the references and recorded answers."""
    program = PREPARERS[spec.scaffold]
    limits = {name: role.sampling.max_new_tokens for name, role in spec.roles.items()}
    params = program.read_params(spec.params)
    found: Estimate = program.estimate(params, limits)
    if spec.scaffold != preparing.NAME or not isinstance(params, Material):
        return found
    answers = answers_of(spec.scaffold, spec.roles)
    measured = {role: one.tokens for role, one in answers.items()}
    asked = [role.role for role in found.roles if role.calls_expected]
    words = f"{found.assumptions} {LENGTHS} {answers_note(asked, answers, spec.roles)}".strip()
    known = with_lengths(found, prompt_tokens(spec.scaffold, spec.problem, params), measured, limits)
    return known.model_copy(update={"assumptions": words})


def problem_run_start(
    *, user: User, problem: Problem, spec: RunSpec, start_id: uuid.UUID | None = None, start: bool = True
) -> Run:
    """Queue the run. Raises `PermissionDenied`, and `ValidationError` for a form that another user sent."""
    if not run_may_start(user):
        raise PermissionDenied("Only coaches and researchers can start runs.")
    return run_create(
        owner=user, problem_version=problem.current, title=problem.title, spec=spec, start=start, start_id=start_id
    )


def runs_about(problem: Problem, program: str) -> list[Run]:
    """The last runs of a program on any version of a problem, newest first."""
    runs = Run.objects.filter(problem_version__problem=problem, scaffold=program).select_related("owner")
    return list(runs.order_by("-created_at", "-pk")[:RUNS_SHOWN])


def is_any_live(runs: list[Run]) -> bool:
    """Whether a run is still live."""
    return any(run.status in LIVE for run in runs)
