"""Start a grading with a page: a grader's run on a pasted script for a problem of the library."""

import uuid

from django.conf import settings
from django.core.exceptions import PermissionDenied

from apps.accounts.models import User
from apps.graders.batches.jobs import Job, material_of, text_of
from apps.graders.held_back import pasted_require
from apps.graders.pieces import pieces_known
from apps.graders.planning.answer_lengths import LENGTHS, answers_note, answers_of
from apps.graders.planning.plans import GradingPlan
from apps.problems.models import Problem
from apps.reasoning.inference.aliases import Alias, load_usable
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.texts.source import source_of
from apps.runs.access import run_may_start
from apps.runs.models import Run
from apps.runs.services import run_create

PASTED = "The script"


def models_for_grading() -> dict[str, Alias]:
    """The aliases that may be used by graders. Raises `AliasError`."""
    return load_usable(settings.MODELS_FILE)


def job_of(problem: Problem, script: str) -> Job:
    """A pasted script on the newest version of a problem."""
    stated = problem.current
    return Job(PASTED, text_of(stated), {**material_of(stated), "script": source_of(script)})


def grading_estimate(plan: GradingPlan, job: Job) -> tuple[Estimate, str]:
    """Estimate the cost, given existing pieces, and describe the basis of the answer lengths. Raises `PlanWrong`."""
    answers = answers_of(plan.workflow, plan.roles)
    found = plan.estimate(job, pieces_known(job.problem.statement, plan.roles), answers)
    asked = [role.role for role in found.roles if role.calls_expected]
    return found, f"{LENGTHS} {answers_note(asked, answers, plan.roles)}".strip()


def grading_start(
    *, user: User, problem: Problem, plan: GradingPlan, script: str, start_id: uuid.UUID | None, start: bool = True
) -> Run:
    """Queue the run. Raises `PlanWrong`, `PermissionDenied`, and `ValidationError` for a form that another user sent."""
    if not run_may_start(user):
        raise PermissionDenied("Only coaches and researchers can have scripts graded.")
    job = job_of(problem, script)
    pasted_require(user, problem.current, job.material["script"])
    spec = plan.spec(job, pieces_known(job.problem.statement, plan.roles))
    return run_create(
        owner=user, problem_version=problem.current, title=problem.title, spec=spec, start=start, start_id=start_id
    )
