"""Turns a person's choices into a frozen `RunSpec`: validation, aliases, sampling per role, and the estimate."""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError

from apps.problems.models import ProblemVersion
from apps.reasoning import planning
from apps.reasoning.domain.errors import PlanError
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Value
from apps.reasoning.inference.aliases import Alias, load_usable
from apps.reasoning.planning import role_limit
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.given import NOTHING_GIVEN, Given
from apps.reasoning.scaffolds.scaffold import Scaffold
from apps.reasoning.scaffolds.spec import BATCH, Budget, RunSpec, TokenPrice
from apps.runs.selectors import alias_speed
from apps.trials.selectors import read_at_once

LARGE_CALLS = 5_000
MOST_SEED = 2**31


@dataclass(frozen=True)
class Plan:
    """An unvalidated plan of a run. `overrides` change single parameters of the preset.

    `role_aliases` maps roles to aliases; the key "" is the alias of all other roles.
    `max_new_tokens` and `temperature` replace the scaffold's own values for every role. `capture`: record for
    learning; `segment_tokens`: sample longer answers in segments, each under the newest policy. `prices`: by alias, for a limit
    in money.
    """

    scaffold: str
    preset: str = ""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    role_aliases: Mapping[str, str] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    seed: int | None = None
    max_new_tokens: int | None = None
    temperature: float | None = None
    capture: bool = False
    segment_tokens: int | None = None
    prices: Mapping[str, TokenPrice] = field(default_factory=dict)


def usable_aliases() -> dict[str, Alias]:
    """The aliases that people may choose: enabled models. Raises `AliasError`."""
    return load_usable(settings.MODELS_FILE)


def plan_scaffold(plan: Plan) -> Scaffold:
    """The scaffold of a plan. Raises `ValidationError` for an unknown name."""
    if plan.scaffold not in SCAFFOLDS:
        raise ValidationError({"scaffold": f"Unknown scaffold {plan.scaffold}. Choose one of {', '.join(SCAFFOLDS)}."})
    return SCAFFOLDS[plan.scaffold]


def plan_params(plan: Plan, given: Given = NOTHING_GIVEN) -> Value:
    """The preset's parameters with the overrides and the problem's data. Raises `ValidationError` with the field as key."""
    scaffold = plan_scaffold(plan)
    taken = {name: getattr(given, name) for name in scaffold.takes}
    try:
        return planning.plan_params(scaffold, plan.preset, dict(plan.overrides) | taken)
    except PlanError as error:
        raise ValidationError({f"p_{error.name}" if error.about == "parameter" else error.about: str(error)}) from error


def plan_aliases(plan: Plan, aliases: Mapping[str, Alias]) -> dict[str, Alias]:
    """The alias of every role. Raises `ValidationError` for a role without alias or an unknown alias."""
    chosen = {}
    scaffold = plan_scaffold(plan)
    names = {role.name for role in scaffold.roles}
    if unknown := set(plan.role_aliases) - names - {""}:
        raise ValidationError({"alias": f"{scaffold.title} has no role {', '.join(sorted(unknown))}."})
    for role in scaffold.roles:
        own = plan.role_aliases.get(role.name)
        name = own or plan.role_aliases.get("", "")
        where = f"role_{role.name}" if own else "alias"
        if not name:
            raise ValidationError({"alias": f"Choose a model for the {role.title.lower()}."})
        if name not in aliases:
            known = ", ".join(aliases) or "none"
            raise ValidationError({where: f"No enabled model is named {name}. Choose one of {known}."})
        chosen[role.name] = aliases[name]
    return chosen


def plan_refusal(plan: Plan, problem: ProblemText, given: Given) -> str:
    """Reason why the scaffold cannot run on the problem, with an alternative; "" if it can. Raises `ValidationError`."""
    return plan_scaffold(plan).cannot_run(problem, plan_params(plan, given))


def plan_estimate(plan: Plan, aliases: Mapping[str, Alias] | None = None, given: Given = NOTHING_GIVEN) -> Estimate:
    """Estimated cost of the run. Without `aliases`, uses the scaffold's token limits. Raises `ValidationError`."""
    scaffold, params = plan_scaffold(plan), plan_params(plan, given)
    limits: dict[str, int] = {}
    if aliases is not None:
        chosen = plan_aliases(plan, aliases)
        limits = {role.name: role_limit(role, chosen[role.name], plan.max_new_tokens) for role in scaffold.roles}
        return scaffold.estimate(params, limits).within({name: alias.context_tokens for name, alias in chosen.items()})
    if plan.max_new_tokens:
        limits = {role.name: min(role.max_new_tokens, plan.max_new_tokens) for role in scaffold.roles}
    return scaffold.estimate(params, limits)


@dataclass(frozen=True)
class Duration:
    """Expected duration of a run at the last measured speed; `speeds` are tokens per second by alias."""

    seconds: float
    speeds: dict[str, float]

    @property
    def slowest(self) -> float:
        return min(self.speeds.values())


def plan_duration(plan: Plan, estimate: Estimate, aliases: Mapping[str, Alias]) -> Duration | None:
    """Time to generate the expected tokens. None if the speed of a chosen model has not been measured here."""
    written: dict[str, int] = {}
    chosen = plan_aliases(plan, aliases)
    for role in estimate.roles:
        written[chosen[role.role].name] = written.get(chosen[role.role].name, 0) + role.written_expected
    speeds = {name: speed for name in written if (speed := alias_speed(name)) is not None}
    if len(speeds) < len(written):
        return None
    return Duration(sum(tokens / speeds[name] for name, tokens in written.items()), speeds)


def is_large(estimate: Estimate, budget: Budget) -> bool:
    """Whether the run may make more than `LARGE_CALLS` calls, which a person must confirm."""
    return min(estimate.calls_max, budget.calls or estimate.calls_max) > LARGE_CALLS


def problem_text(version: ProblemVersion) -> ProblemText:
    """The frozen statement for the core."""
    return ProblemText(
        id=str(version.problem.public_id),
        version=version.number,
        title=version.problem.title,
        statement=version.statement,
        answer=version.answer,
    )


def plan_spec(
    plan: Plan, problem: ProblemText, aliases: Mapping[str, Alias], *, authored: bool = False, given: Given = NOTHING_GIVEN
) -> RunSpec:
    """The frozen specification. Raises `ValidationError` with the fields of the form as keys."""
    scaffold, params = plan_scaffold(plan), plan_params(plan, given)
    if refused := plan_refusal(plan, problem, given):
        raise ValidationError({"scaffold": refused})
    chosen = plan_aliases(plan, aliases)
    _captures_require(plan, chosen.values())
    if plan.seed is not None and not 0 <= plan.seed < MOST_SEED:
        raise ValidationError({"seed": f"A seed is a whole number from 0 to {MOST_SEED - 1}."})
    return RunSpec(
        problem=problem,
        scaffold=scaffold.name,
        preset=plan.preset,
        params=params.model_dump(mode="json"),
        roles=planning.plan_roles(
            scaffold,
            chosen,
            deadline_s=settings.CALL_DEADLINE_S,
            preset=plan.preset,
            max_new_tokens=plan.max_new_tokens,
            temperature=plan.temperature,
            capture=plan.capture,
            read_at_once=lambda alias, role: read_at_once(alias, scaffold.name, role),
        ),
        prompt_hashes=dict(scaffold.prompts),
        seed=secrets.randbelow(MOST_SEED) if plan.seed is None else plan.seed,
        code_version=settings.VERSION,
        budget=plan.budget,
        prices={alias.name: plan.prices[alias.name] for alias in chosen.values() if alias.name in plan.prices},
        authored=authored,
        capture=plan.capture,
        segment_tokens=plan.segment_tokens,
        priority=scaffold.presets[plan.preset].priority if plan.preset in scaffold.presets else BATCH,
    )


def _captures_require(plan: Plan, aliases: Iterable[Alias]) -> None:
    """Raise `ValidationError` if the plan records for learning and a model does not report its sampled tokens."""
    if not (plan.capture or plan.segment_tokens):
        return
    without = sorted({f"{alias.title} ({alias.backend})" for alias in aliases if not alias.captures})
    if without:
        raise ValidationError(
            {
                "capture": f"{', '.join(without)} does not report its tokens, so the run cannot be recorded for learning. "
                "Choose models of the backend vllm, or turn this off; supervised learning needs only texts."
            }
        )


def plan_of_spec(spec: RunSpec) -> Plan:
    """The plan that gives `spec`; the starting point of a fork."""
    scaffold = SCAFFOLDS.get(spec.scaffold)
    base = scaffold.presets[spec.preset].params.model_dump(mode="json") if scaffold and spec.preset in scaffold.presets else {}
    names = {role: chosen.alias for role, chosen in spec.roles.items()}
    most_common = max(set(names.values()), key=list(names.values()).count, default="")
    limits = {chosen.sampling.max_new_tokens for chosen in spec.roles.values()}
    temperatures = {chosen.sampling.temperature for chosen in spec.roles.values()}
    return Plan(
        scaffold=spec.scaffold,
        preset=spec.preset,
        overrides={
            name: value
            for name, value in spec.params.items()
            if (name not in base or base[name] != value) and not (scaffold and name in scaffold.takes)
        },
        role_aliases={"": most_common, **{role: name for role, name in names.items() if name != most_common}},
        budget=spec.budget,
        seed=spec.seed,
        max_new_tokens=max(limits) if len(limits) == 1 else None,
        temperature=max(temperatures) if len(temperatures) == 1 else None,
        capture=spec.capture,
        segment_tokens=spec.segment_tokens,
        prices=spec.prices,
    )
