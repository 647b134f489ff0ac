"""From a cell's place to the frozen specification of its run, and to the address of its content."""

import functools
import hashlib
import json
from collections.abc import Mapping

from django.core.exceptions import ValidationError

from apps.accounts.models import User
from apps.experiments.solving.manifest import Manifest, Method, Team
from apps.experiments.solving.matrix import Axes, Place, seed_of
from apps.explorations.starting.given import given_of
from apps.explorations.starting.plans import Plan, plan_spec, problem_text
from apps.problems.access import problem_visible_to
from apps.problems.models import Problem, ProblemVersion
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.given import Given
from apps.reasoning.scaffolds.spec import RunSpec
from apps.runs.models import BATCHED

#: Fields of a specification that do not change what a run does.
_BESIDES = {"priority", "capture", "segment_tokens", "preset", "authored"}


class CellWrong(Exception):
    """A cell that cannot run; the message says why and what to do."""


def address_of(spec: RunSpec) -> str:
    """Sha-256 in hex over all that decides a run: statement and answer, method, roles, seed, prompts, code, budget."""
    values = spec.model_dump(mode="json", exclude=_BESIDES)
    values["problem"] = {"statement": spec.problem.statement, "answer": spec.problem.answer}
    return hashlib.sha256(json.dumps(values, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


class Planner:
    """Plans the cells of one experiment; what cells share is read once."""

    def __init__(self, manifest: Manifest, aliases: Mapping[str, Alias], user: User | None) -> None:
        self.manifest, self.aliases, self.user = manifest, aliases, user
        self.axes = Axes(manifest)
        self.given = functools.cache(self._given)

    def _given(self, version: ProblemVersion) -> Given:
        return given_of(version.problem, self.user)

    @functools.cached_property
    def _visible(self) -> frozenset[int]:
        return frozenset(problem_visible_to(self.user).values_list("pk", flat=True)) if self.user else frozenset()

    def held_back(self, problem: Problem) -> str:
        """Why the owner may not use a problem now; "" if they may."""
        if self.user is None or problem.pk in self._visible:
            return ""
        return "The problem is held back from you for now, because a contest has it. Retry the cell when it has closed."

    def spec(self, place: Place, version: ProblemVersion) -> RunSpec:
        """The specification of a cell's run. Raises `CellWrong`."""
        if reason := self.held_back(version.problem):
            raise CellWrong(reason)
        plan = plan_of(self.axes.method(place.method), self.axes.team(place.team), self.manifest, place)
        try:
            spec = plan_spec(plan, problem_text(version), self.aliases, given=self.given(version))
        except ValidationError as error:
            raise CellWrong(words_of(error)) from error
        return spec.model_copy(update={"preset": BATCHED})


def plan_of(method: Method, team: Team, manifest: Manifest, place: Place) -> Plan:
    """The plan of a cell: the roles of the team that the method has."""
    scaffold = SCAFFOLDS.get(method.scaffold)
    roles = {role.name for role in scaffold.roles} if scaffold else set()
    return Plan(
        scaffold=method.scaffold,
        preset=method.preset,
        overrides=method.params,
        role_aliases={role: alias for role, alias in team.roles.items() if not role or role in roles},
        budget=manifest.budgets[place.budget].limits,
        prices=manifest.prices_for(place.budget),
        seed=seed_of(manifest, place),
        max_new_tokens=method.max_new_tokens,
        temperature=method.temperature,
    )


def words_of(error: ValidationError) -> str:
    """The messages, those about a parameter after its name."""
    if not hasattr(error, "error_dict"):
        return " ".join(error.messages)
    rows = [(field, message) for field, messages in error.message_dict.items() for message in messages]
    return " ".join(f"{field[2:]}: {message}" if field.startswith("p_") else message for field, message in rows)
