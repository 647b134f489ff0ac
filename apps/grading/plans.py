"""Which grader looks at which scripts with which models: checked, estimated, and frozen into a specification per script."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from apps.grading.answer_lengths import Answers
from apps.grading.jobs import Job
from apps.grading.shown import shown_before
from apps.reasoning.domain.errors import ParamsError, PlanError
from apps.reasoning.domain.spending import OFFLINE
from apps.reasoning.graders.grader import Grader
from apps.reasoning.graders.lengths import prompt_tokens, with_lengths
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.graders.slots import is_approved
from apps.reasoning.graders.view import View
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.planning import plan_roles
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.scaffold import Scaffold
from apps.reasoning.scaffolds.spec import BATCH, Budget, RoleSpec, RunSpec
from apps.trials.selectors import read_at_once

Prepared = Mapping[str, dict[str, Any]]
#: Of the name of a grading.
RUN_LENGTH = 32
#: Why a script without a text has no points.
EMPTY = "empty"


class PlanWrong(ValueError):
    """A plan that cannot be carried out; the message says what to change."""


def roles_played(
    program: Scaffold, aliases: Mapping[str, Alias], max_new_tokens: int | None = None, temperature: float | None = None
) -> dict[str, RoleSpec]:
    """Who plays which role of a program, and how; the alias "" plays those that are not named.

    Raises `PlanWrong` for a role without a model or one that is not there.
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
    """Whether every role is played by a model whose engine keeps to a schema; `aliases` as of `roles_played`."""
    players = [aliases.get(role.name) or aliases.get("") for role in program.roles]
    return all(alias is not None and alias.structured for alias in players)


@dataclass(frozen=True)
class GradingPlan:
    """`aliases` by role, "" being that of all roles it does not name; `overrides` are parameters of the grader."""

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
        """Raises `PlanWrong` for a grader that does not exist."""
        if self.workflow not in GRADERS:
            raise PlanWrong(f"There is no grader {self.workflow}; there are {', '.join(GRADERS)}.")
        return GRADERS[self.workflow]

    @property
    def roles(self) -> dict[str, RoleSpec]:
        """Who plays which role, and how. Raises `PlanWrong` for a role without a model or one that is not there."""
        return roles_played(self.grader, self.aliases, self.max_new_tokens, self.temperature)

    @property
    def view(self) -> View | None:
        """What is shown; None in what was planned before there were views."""
        return View.model_validate(given) if (given := self._shown["view"]) else None

    @property
    def _shown(self) -> dict[str, Any]:
        return {"view": self.overrides.get("view", self.grader.view)}

    @property
    def _form(self) -> dict[str, bool]:
        return {"structured": True} if asks_for_json(self.grader, self.aliases) else {}

    def params(self, job: Job, prepared: Prepared | None = None) -> Material:
        """The parameters for a script. Raises `PlanWrong`, which names the paper."""
        try:
            given = {**self._form, **job.material, **self._shown, **self.overrides, "prepared": prepared or {}}
            params = self.grader.read_params(given)
        except ParamsError as error:
            raise PlanWrong(f"{job.paper}: {error}") from error
        if not isinstance(params, Material):
            raise TypeError(f"the parameters of {self.workflow} are no material")
        if lack := self.grader.lacks(params):
            raise PlanWrong(f"{job.paper}: {lack}")
        return params

    def trouble(self, job: Job) -> str:
        """Why this script cannot be graded, in words; empty where it can."""
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
        """All that decides what will be asked about a script."""
        return RunSpec(
            problem=job.problem,
            scaffold=self.workflow,
            params=self.params(job, prepared).model_dump(mode="json"),
            roles=self.roles,
            prompt_hashes=dict(self.grader.prompts),
            seed=self.seed,
            code_version=settings.VERSION,
            budget=Budget(calls=self.calls_each),
            priority=self.priority,
        )

    def estimate(self, job: Job, prepared: Prepared | None = None, answers: Mapping[str, Answers] | None = None) -> Estimate:
        """What one script is likely to cost: prompts by the lengths of its texts, answers as measured or as in the papers."""
        limits = {name: role.sampling.max_new_tokens for name, role in self.roles.items()}
        params = self.params(job, prepared)
        measured = {role: one.tokens for role, one in (answers or {}).items()}
        found = self.grader.estimate(params, limits)
        return with_lengths(found, prompt_tokens(self.workflow, job.problem, params), measured, limits)


def run_name(spec: RunSpec) -> str:
    """The name of a grading: the same question of the same models has the same one, whatever models prepared and whenever.

    What a person approved is part of the question: after another approval a script is graded anew. What is shown as it was
    before there were views is the same question as then. A longer context is no other question.
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
    """Calls and tokens over all scripts. What the first script of a problem prepares is not counted for the others.

    `roles` are those that are asked.
    """

    scripts: int
    calls_expected: int
    calls_max: int
    tokens_expected: int
    roles: tuple[str, ...] = ()


def total_of(
    plan: GradingPlan, jobs: Sequence[Job], known: Mapping[str, Prepared], answers: Mapping[str, Answers] | None = None
) -> Total:
    """The estimate of all; `known` holds by statement what was prepared before. Raises `PlanWrong`."""
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
