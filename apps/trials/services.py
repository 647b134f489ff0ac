"""Start of a trial: one run per easy problem, in which a model plays every role once."""

import uuid
from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction

from apps.accounts.models import User
from apps.problems.access import solved_visible_to
from apps.problems.models import Problem
from apps.problems.samples import ORIGIN, first_steps
from apps.problems.services import sample_library_load
from apps.reasoning.domain.generation import Sampling
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.marking.importing import scheme_import
from apps.reasoning.scaffolds.spec import BATCH, RoleSpec, RunSpec
from apps.reasoning.trying.program import PROGRAM, Params
from apps.reasoning.trying.stage import MODEL
from apps.runs.access import run_may_start
from apps.runs.models import TRIAL, Run
from apps.runs.services import run_create

#: Number of problems of a full trial.
PROBLEMS = 12
SEED = 1


@dataclass(frozen=True)
class TrialPlan:
    """Model, number of problems, `methods` (empty: all) and `limit` on new tokens per call of a trial."""

    alias: Alias
    problems: int = PROBLEMS
    methods: tuple[str, ...] = ()
    limit: int | None = None

    @property
    def new_tokens(self) -> int:
        """Maximum new tokens per call: at most half of the context, to leave room for the prompt."""
        half = max(1, self.alias.context_tokens // 2)
        return min(self.limit, half) if self.limit else half


def trial_problems(count: int, user: User | None = None) -> list[Problem]:
    """The first `count` easy problems of a trial; missing ones are loaded into the library.

    Problems with solutions held back from `user` are left out, because a trial shows them. `user` None: the command line.
    """
    slugs = list(first_steps())
    known = Problem.objects.filter(origin=ORIGIN, external_id__in=slugs)
    if known.count() < len(slugs):
        sample_library_load()
    visible = known.all() if user is None else known.filter(pk__in=solved_visible_to(user).values("pk"))
    found = {problem.external_id: problem for problem in visible}
    return [found[slug] for slug in slugs if slug in found][:count]


def trial_params(plan: TrialPlan, problem: Problem) -> Params:
    """Parameters of a run: authored attempts, reference solutions and marking scheme of the problem."""
    attempts = first_steps()[problem.external_id]
    right = [one.text for one in attempts if one.kind == "right"][:1]
    scheme = scheme_import(problem.current.scheme_text).scheme if problem.current.scheme_text else None
    return Params.model_validate(
        {
            "attempts": [one.shown for one in attempts],
            "references": [*right, *(one.text for one in problem.reference_solutions.all())],
            "scheme": scheme.model_dump() if scheme else None,
            "methods": plan.methods,
            "limit": plan.new_tokens,
        }
    )


def trial_spec(plan: TrialPlan, problem: Problem) -> RunSpec:
    """The specification of the run for one problem."""
    alias, stated = plan.alias, problem.current
    text = ProblemText(
        id=problem.slug, version=stated.number, title=problem.title, statement=stated.statement, answer=stated.answer
    )
    role = RoleSpec(
        alias=alias.name,
        revision=alias.revision or alias.model,
        sampling=Sampling(max_new_tokens=plan.new_tokens),
        deadline_s=settings.CALL_DEADLINE_S,
        tools=alias.tools,
        closing=alias.closes_by,
        context_tokens=alias.context_tokens,
        prompts=alias.prompts,
    )
    return RunSpec(
        problem=text,
        scaffold=PROGRAM.name,
        preset=TRIAL,
        params=trial_params(plan, problem).model_dump(mode="json"),
        roles={MODEL: role},
        prompt_hashes=PROGRAM.prompts,
        seed=SEED,
        code_version=settings.VERSION,
        priority=BATCH,
    )


@transaction.atomic
def trial_start(*, user: User | None, plan: TrialPlan, start: bool = True, start_id: uuid.UUID | None = None) -> list[Run]:
    """Queue one run per problem; `user` None: the command line. Raises `PermissionDenied`."""
    if user is not None and not run_may_start(user):
        raise PermissionDenied("Only coaches and researchers can start trials.")
    if not plan.alias.enabled or plan.alias.is_authored:
        raise PermissionDenied(f"{plan.alias.title} cannot be tried: it is not an enabled model.")
    runs = []
    for number, problem in enumerate(trial_problems(plan.problems, user)):
        own_id = uuid.uuid5(start_id, str(number)) if start_id else None
        runs.append(
            run_create(
                owner=user,
                problem_version=problem.current,
                title=f"Trial of {plan.alias.title}: {problem.title}",
                spec=trial_spec(plan, problem),
                start=start,
                start_id=own_id,
            )
        )
    return runs
