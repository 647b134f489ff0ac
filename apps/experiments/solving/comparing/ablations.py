"""Ablations: rows that differ from the baseline in exactly one parameter of the method or one role of the team."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError

from apps.experiments.solving.comparing.rows import compared, interval_words, ratio_words, word_of
from apps.experiments.solving.manifest import Manifest, Method, Team
from apps.experiments.solving.matrix import Place
from apps.experiments.solving.pages import name_of
from apps.experiments.solving.planning import plan_of
from apps.experiments.solving.tables import Row
from apps.explorations.starting.plans import plan_params, plan_scaffold
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.statistics.differences import Difference, holm, sentence

NO_BASELINE = (
    "The manifest has no baseline. Name the full method as `baseline`, and this page finds what differs from it in one switch."
)
NONE = (
    "No row differs from the baseline in exactly one parameter or role. Add a method with the scaffold of the baseline and one "
    "other parameter, or a team with one other model, to the manifest."
)


@dataclass(frozen=True)
class Switch:
    """What alone differs: its name, the value of the baseline and that of the other."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class Ablation:
    """A row against its full row. `difference`: the row less the full one, in percentage points with its interval."""

    switch: Switch
    name: str
    full: str
    difference: str
    said: str
    calls: str
    tokens: str
    query: Mapping[str, str]


def ablations_of(manifest: Manifest, problems: Sequence[str], rows: Sequence[Row]) -> list[Ablation]:
    """The ablations of the baseline, with Holm's correction over all of them."""
    pairs = _pairs(manifest, rows)
    found = [compared(problems, row, full, len(pairs)) for row, full, _ in pairs]
    tested = [one.p_value for one in found if isinstance(one, Difference)]
    adjusted = iter(holm(tested))
    lines = []
    for (row, full, switch), one in zip(pairs, found, strict=True):
        names = name_of(manifest, row), name_of(manifest, full)
        p_value = next(adjusted) if isinstance(one, Difference) else None
        lines.append(
            Ablation(
                switch,
                *names,
                difference=interval_words(one),
                said=sentence(one, *names, adjusted=p_value),
                calls=ratio_words(row.calls, full.calls),
                tokens=ratio_words(row.tokens, full.tokens),
                query={"left": word_of(row), "right": word_of(full)},
            )
        )
    return lines


def _pairs(manifest: Manifest, rows: Sequence[Row]) -> list[tuple[Row, Row, Switch]]:
    """Each row with its full row and the switch: other methods of each team, then other teams of the baseline."""
    by_key = {row.key: row for row in rows}
    base = next(one for one in manifest.methods if one.name == manifest.baseline)
    methods = [(one.name, switch) for one in manifest.methods if (switch := _switch_of(manifest, base, one))]
    teams = [(one.name, switch) for one in manifest.teams if (switch := _role_of(base, manifest.teams[0], one))]
    keys = []
    for budget in range(len(manifest.budgets)):
        for team in manifest.teams:
            keys += [((name, team.name, budget), (base.name, team.name, budget), switch) for name, switch in methods]
        full = (base.name, manifest.teams[0].name, budget)
        keys += [((base.name, name, budget), full, switch) for name, switch in teams]
    return [(by_key[one], by_key[full], switch) for one, full, switch in keys if one in by_key and full in by_key]


def _switch_of(manifest: Manifest, base: Method, other: Method) -> Switch | None:
    """The only parameter in which two methods of one scaffold and preset differ, defaults included."""
    if other.scaffold != base.scaffold or other.preset != base.preset:
        return None
    return _only(_settings(manifest, base), _settings(manifest, other))


def _settings(manifest: Manifest, method: Method) -> dict[str, Any]:
    """All parameters of a method; only the written ones if they are invalid."""
    own = {"max_new_tokens": method.max_new_tokens, "temperature": method.temperature}
    plan = plan_of(method, manifest.teams[0], manifest, Place("", method.name, manifest.teams[0].name, 0, 0))
    try:
        params = plan_params(plan).model_dump(mode="json")
        taken = set(plan_scaffold(plan).takes)
    except ValidationError:
        return own | method.params
    return {name: value for name, value in params.items() if name not in taken} | own


def _role_of(method: Method, base: Team, other: Team) -> Switch | None:
    """The only role of a method that two teams give to different models."""
    scaffold = SCAFFOLDS.get(method.scaffold)
    roles = [role.name for role in scaffold.roles] if scaffold else []
    before, after = ({role: team.roles.get(role) or team.roles.get("") for role in roles} for team in (base, other))
    return _only(before, after)


def _only(before: Mapping[str, Any], after: Mapping[str, Any]) -> Switch | None:
    """The only difference of two mappings; None if they are equal or differ in more."""
    apart = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
    if len(apart) != 1:
        return None
    return Switch(apart[0], _written(before.get(apart[0])), _written(after.get(apart[0])))


def _written(value: Any) -> str:
    """A value as text: "on" and "off" for switches, "default" for None."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return "default" if value is None else str(value)
