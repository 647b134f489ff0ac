"""Grading plans: a grader with its models and parameters, validated, estimated, and turned into one run spec per script."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from apps.graders.batches.jobs import Job
from apps.graders.planning.answer_lengths import Answers
from apps.graders.planning.shown import shown_before
from apps.reasoning.domain.errors import ParamsError, PlanError
from apps.reasoning.domain.spending import OFFLINE
from apps.reasoning.graders.grader import Grader
from apps.reasoning.graders.lengths import prompt_tokens, with_lengths
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.pieces.slots import is_approved
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.graders.view import View
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.planning import plan_roles
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.scaffold import Scaffold
from apps.reasoning.scaffolds.spec import BATCH, Budget, RoleSpec, RunSpec
from apps.trials.selectors import read_at_once

Prepared = Mapping[str, dict[str, Any]]
#: Length of the name of a grading.
RUN_LENGTH = 32
#: Reason why a script without text is unscored.
EMPTY = "empty"


class PlanWrong(ValueError):
    """A plan that cannot be executed; the message says what to change."""


def roles_played(
    program: Scaffold, aliases: Mapping[str, Alias], max_new_tokens: int | None = None, temperature: float | None = None
) -> dict[str, RoleSpec]:
    """Model and sampling of each role of a program; the alias under "" plays the roles that are not named.

    Raises `PlanWrong` for a role without a model and for an unknown role.
    """
    try:
        return plan_roles(
            program,
            aliases,
            deadline_s=settings.CALL_DEADLINE_S,
            max_new_tokens=max_new_tokens,
            temperature=temperature,
            may_call_functions=False,
            read_at_once=lambda alias, role: read_at_once(alias, program.name, role),
        )
    except PlanError as error:
        raise PlanWrong(str(error)) from error


def asks_for_json(program: Scaffold, aliases: Mapping[str, Alias]) -> bool:
    """Whether the models of all roles support structured output; `aliases` as for `roles_played`."""
    players = [aliases.get(role.name) or aliases.get("") for role in program.roles]
    return all(alias is not None and alias.structured for alias in players)


@dataclass(frozen=True)
class GradingPlan:
    """A grader with its models. `aliases` by role, "" for all other roles; `overrides`: parameters of the grader."""

    workflow: str
    aliases: Mapping[str, Alias]
    overrides: Mapping[str, Any] = field(default_factory=dict)
    max_new_tokens: int | None = None
    temperature: float | None = None
    seed: int = 0
    calls_each: int | None = None
    priority: int = BATCH

    @property
    def grader(self) -> Grader:
        """The grader. Raises `PlanWrong` if it does not exist."""
        if self.workflow not in GRADERS:
            raise PlanWrong(f"No grader {self.workflow}. Choose one of: {', '.join(GRADERS)}.")
        return GRADERS[self.workflow]

    @property
    def roles(self) -> dict[str, RoleSpec]:
        """Model and sampling of each role. Raises `PlanWrong` for a role without a model and for an unknown role."""
        return roles_played(self.grader, self.aliases, self.max_new_tokens, self.temperature)

    @property
    def view(self) -> View | None:
        """The view; None in plans from before views."""
        return View.model_validate(given) if (given := self._shown["view"]) else None

    @property
    def _shown(self) -> dict[str, Any]:
        return {"view": self.overrides.get("view", self.grader.view)}

    @property
    def _form(self) -> dict[str, bool]:
        return {"structured": True} if asks_for_json(self.grader, self.aliases) else {}

    def params(self, job: Job, prepared: Prepared | None = None) -> Material:
        """The parameters for a script. Raises `PlanWrong` with the name of the paper."""
        try:
            given = {**self._form, **job.material, **self._shown, **self.overrides, "prepared": prepared or {}}
            params = self.grader.read_params(given)
        except ParamsError as error:
            raise PlanWrong(f"{job.paper}: {error}") from error
        if not isinstance(params, Material):
            raise TypeError(f"the parameters of {self.workflow} are not Material")
        if lack := self.grader.lacks(params):
            raise PlanWrong(f"{job.paper}: {lack}")
        return params

    def trouble(self, job: Job) -> str:
        """Why this script cannot be graded, or ""."""
        if job.trouble:
            return job.trouble
        if not job.material["script"].strip():
            return EMPTY
        try:
            self.params(job)
        except PlanWrong as error:
            return str(error).removeprefix(f"{job.paper}: ").rstrip(".")
        return ""

    def spec(self, job: Job, prepared: Prepared | None = None) -> RunSpec:
        """The run spec for a script."""
        params = self.params(job, prepared)
        return RunSpec(
            problem=job.problem,
            scaffold=self.workflow,
            params=params.model_dump(mode="json"),
            roles=self.roles,
            prompt_hashes=self.grader.prompts_of(params),
            seed=self.seed,
            code_version=settings.VERSION,
            budget=Budget(calls=self.calls_each),
            priority=self.priority,
        )

    def estimate(self, job: Job, prepared: Prepared | None = None, answers: Mapping[str, Answers] | None = None) -> Estimate:
        """Estimate the cost of a script: prompts from the lengths of its texts, answers as measured or as in the papers."""
        limits = {name: role.sampling.max_new_tokens for name, role in self.roles.items()}
        params = self.params(job, prepared)
        measured = {role: one.tokens for role, one in (answers or {}).items()}
        found = self.grader.estimate(params, limits)
        return with_lengths(found, prompt_tokens(self.workflow, job.problem, params), measured, limits)


def run_name(spec: RunSpec) -> str:
    """The name of a grading: the same question to the same models has the same name, whatever pieces models prepared.

    Approved pieces are part of the question, so that a new approval leads to a new grading. A view equal to the former fixed
    one, and a longer context, do not change the name.
    """
    asked = spec.model_dump(mode="json", exclude={"code_version", "budget", "priority"})
    for role in asked["roles"].values():
        role.pop("context_tokens")
        if role["prompts"] == "full":
            role.pop("prompts")
    prepared = asked["params"].pop("prepared", {})
    if approved := {name: value for name, value in prepared.items() if is_approved(name)}:
        asked["params"]["approved"] = approved
    if (view := asked["params"].pop("view", None)) and View(**view) != shown_before(spec.scaffold, asked["params"]):
        asked["params"]["view"] = view
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:RUN_LENGTH]


@dataclass(frozen=True)
class Total:
    """Calls and tokens over all scripts. Preparation counts once per problem.

    `roles`: roles with expected calls.
    """

    scripts: int
    calls_expected: int
    calls_max: int
    tokens_expected: int
    roles: tuple[str, ...] = ()


def total_of(
    plan: GradingPlan, jobs: Sequence[Job], known: Mapping[str, Prepared], answers: Mapping[str, Answers] | None = None
) -> Total:
    """The total estimate; `known`: pieces prepared before, by statement. Raises `PlanWrong`."""
    asked: dict[str, None] = {}
    seen: set[str] = set()
    expected = most = tokens = 0
    for job in jobs:
        one = plan.estimate(job, known.get(job.problem.statement), answers)
        is_first = job.problem.statement not in seen
        seen.add(job.problem.statement)
        counted = [role for role in one.roles if is_first or role.role not in OFFLINE]
        asked |= dict.fromkeys(role.role for role in counted if role.calls_expected)
        expected += sum(role.calls_expected for role in counted)
        tokens += sum(role.tokens_expected for role in counted)
        most += one.calls_max
    return Total(len(jobs), expected, most, tokens, tuple(asked))
