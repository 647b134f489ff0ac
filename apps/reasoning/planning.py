"""From a program and its models to who plays which role, and how: the one planner of the application and the library."""

from collections.abc import Callable, Mapping
from typing import Any

from apps.reasoning.domain.errors import ParamsError, PlanError
from apps.reasoning.domain.generation import Sampling
from apps.reasoning.domain.values import Value
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.scaffolds.scaffold import Role, Scaffold
from apps.reasoning.scaffolds.spec import RoleSpec


def plan_params(program: Scaffold, preset: str, overrides: Mapping[str, Any]) -> Value:
    """The preset's parameters with the overrides; without a preset the program's defaults.

    Raises `PlanError` about the preset, or about a parameter by its name.
    """
    if preset and preset not in program.presets:
        known = ", ".join(program.presets)
        raise PlanError("preset", f"{program.title} has no preset {preset}; there are {known}.")
    base = program.presets[preset].params.model_dump() if preset else {}
    try:
        return program.read_params(base | dict(overrides))
    except ParamsError as error:
        name, _, reason = str(error).partition(": ")
        if name in program.params.model_fields and reason:
            raise PlanError("parameter", reason, name) from error
        raise PlanError("preset", str(error)) from error


def plan_players(program: Scaffold, aliases: Mapping[str, Alias]) -> dict[str, Alias]:
    """The alias of every role; the key "" plays the roles that are not named.

    Raises `PlanError` about a role that the program lacks or that no alias plays.
    """
    names = {role.name for role in program.roles}
    if unknown := sorted(set(aliases) - names - {""}):
        raise PlanError("role", f"{program.title} has no role {', '.join(unknown)}; there are {', '.join(sorted(names))}.")
    players = {}
    for role in program.roles:
        alias = aliases.get(role.name) or aliases.get("")
        if alias is None:
            raise PlanError("role", f"There is no model for the role {role.name}.", role.name)
        players[role.name] = alias
    return players


def role_limit(role: Role, alias: Alias, wanted: int | None) -> int:
    """Most new tokens of one call: what is wanted or the program's, within half of the context (the prompt needs room)."""
    return max(1, min(wanted or role.max_new_tokens, alias.context_tokens // 2))


def plan_roles(
    program: Scaffold,
    aliases: Mapping[str, Alias],
    *,
    deadline_s: float,
    preset: str = "",
    max_new_tokens: int | None = None,
    temperature: float | None = None,
    capture: bool = False,
    may_call_functions: bool = True,
    read_at_once: Callable[[str, str], bool] = lambda _alias, _role: False,
) -> dict[str, RoleSpec]:
    """Who plays which role, and how it samples: as the program and its preset say, fitted to the model's context.

    `aliases` as of `plan_players`. `max_new_tokens` and `temperature` replace the program's own for every role. `deadline_s`:
    seconds for one call. `capture`: tokens are recorded for learning. `may_call_functions`: the program can offer its models
    tools as functions. `read_at_once(alias, role)`: the answers need no grammar, as was measured. Raises `PlanError`.
    """
    own = program.presets[preset].temperatures if preset in program.presets else {}
    # What is learned from is drawn from the whole distribution: ratios to a cut one are not ratios to what was drawn.
    cut = {"top_p": 1.0} if capture else {}
    players = plan_players(program, aliases)
    roles = {}
    for role in program.roles:
        alias = players[role.name]
        drawn = own.get(role.name, role.temperature) if temperature is None else temperature
        closing = alias.closes_by
        if closing == "grammar" and (capture or read_at_once(alias.name, role.name)):
            closing = "schema"  # A token that was forced is none that the model drew.
        roles[role.name] = RoleSpec(
            alias=alias.name,
            revision=alias.revision or alias.model,
            sampling=Sampling(temperature=drawn, max_new_tokens=role_limit(role, alias, max_new_tokens), **cut),
            deadline_s=deadline_s,
            tools=alias.tools if may_call_functions else "text",
            closing=closing,
            context_tokens=alias.context_tokens,
            prompts=alias.prompts,
        )
    return roles
