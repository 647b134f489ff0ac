"""Names of model graders: a workflow, the manner in which it judges, and the models that play its roles.

| name | what it is |
|---|---|
| `single_turn@big` | one model in every role |
| `jury@big,small,other` | a model for each role, in the order of the roles |
| `ref5_plain@small,grader=big` | one model in every role but those that are named |
| `scheme+advisory@big`, `jury+neutral@big` | points by the grader itself; a neutral rewriting of the script is judged |
| `single_turn+guidelines@big` | it is shown the guidelines for markers as well (`graders/view.py`) |

What stands after the @ are the *players*. Each grader has one name, so that names may be compared: manners stand in the order
of `MANNERS`, a jury names its judges in their order, and elsewhere whoever plays most roles comes first.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from apps.grading.experiment_models import PLAYERS_LENGTH
from apps.grading.plans import GradingPlan, PlanWrong
from apps.grading.shown import shown_of
from apps.reasoning.graders import jury, with_scheme
from apps.reasoning.graders.grader import Grader
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.graders.view import GUIDELINES, View
from apps.reasoning.inference.aliases import Alias

#: Parameters by manner.
MANNERS: dict[str, dict[str, Any]] = {"advisory": {"strict": False}, GUIDELINES: {}, "neutral": {"neutral": True}}
_WORDS = {"advisory": ", advisory", GUIDELINES: " with guidelines", "neutral": " in a neutral rewriting"}
Players = Mapping[str, str]
"""Aliases by role, "" being that of the roles that are not named."""


@dataclass(frozen=True)
class Variant:
    """A workflow in a manner."""

    name: str
    grader: Grader
    manners: tuple[str, ...]

    @property
    def title(self) -> str:
        """For people."""
        return "".join([self.grader.title, *(_WORDS[one] for one in self.manners)])

    @property
    def overrides(self) -> dict[str, Any]:
        """The parameters that make it."""
        found = {name: value for one in self.manners for name, value in MANNERS[one].items()}
        return found | ({"view": self.view} if GUIDELINES in self.manners else {})

    @property
    def view(self) -> View:
        """What it is shown."""
        return self.grader.view.also(*{GUIDELINES} & set(self.manners))


def _variants(grader: Grader) -> list[Variant]:
    may_show = grader.may_show(grader.presets["original"].params)
    left_out = {"advisory"} if grader.name != with_scheme.NAME else set()
    left_out |= {GUIDELINES} - may_show
    known = [one for one in MANNERS if one not in left_out]
    chosen = [[one for one, is_on in zip(known, on, strict=True) if is_on] for on in product((False, True), repeat=len(known))]
    return [Variant("+".join([grader.name, *some]), grader, tuple(some)) for some in chosen]


#: Every workflow in every manner, by name.
VARIANTS: dict[str, Variant] = {one.name: one for grader in GRADERS.values() for one in _variants(grader)}
#: Those that grade by a marking scheme.
BY_SCHEME = tuple(name for name, one in VARIANTS.items() if "scheme" in one.grader.needs)


def variant_of(text: str) -> Variant:
    """The variant of this name, whatever the order of its manners. Raises `PlanWrong`."""
    workflow, *manners = text.split("+")
    if workflow not in GRADERS:
        raise PlanWrong(f"There is no grader {workflow}; there are {', '.join(GRADERS)}.")
    name = "+".join([workflow, *(one for one in MANNERS if one in manners)])
    if len(set(manners)) < len(manners) or not set(manners) <= set(MANNERS):
        raise PlanWrong(
            f"{GRADERS[workflow].title} has no manner “{'+'.join(manners)}”; write each once of: {', '.join(MANNERS)}."
        )
    if name in VARIANTS:
        return VARIANTS[name]
    if GUIDELINES in manners:
        grader = GRADERS[workflow]
        shown = Material(script="", view=grader.view.also(GUIDELINES))
        if trouble := grader.cannot_show(shown):
            raise PlanWrong(trouble)
    raise PlanWrong(f"Only {GRADERS[with_scheme.NAME].title} can be advisory.")


def title_of(name: str) -> str:
    """How pages name a variant, or the name as it is where there is none any more."""
    return VARIANTS[name].title if name in VARIANTS else name


def variant_asked(workflow: str, params: Mapping[str, Any]) -> Variant:
    """The variant that a grading with these parameters is."""
    is_shown = shown_of(workflow, params).view.guidelines
    manners = [
        manner
        for manner, asked in MANNERS.items()
        if (is_shown if manner == GUIDELINES else all(params.get(name) == value for name, value in asked.items()))
    ]
    return VARIANTS.get("+".join([workflow, *manners]), VARIANTS[workflow])


def players_read(text: str, grader: Grader) -> dict[str, str]:
    """By each role of the grader the alias that plays it. Raises `PlanWrong` with what to write instead."""
    roles = [role.name for role in grader.roles]
    parts = [part.strip() for part in text.split(",")]
    bare = [part for part in parts if "=" not in part]
    named = [(role.strip(), alias.strip()) for role, _, alias in (part.partition("=") for part in parts if "=" in part)]
    if "" in bare or any(not role or not alias for role, alias in named):
        raise PlanWrong(f"A name is missing in “{text}”. Write one model, or one for each role, or ROLE=MODEL, with commas.")
    wrong = sorted({role for role, _ in named} - set(roles))
    if wrong:
        raise PlanWrong(f"{grader.title} has no role {', '.join(wrong)}; there are {', '.join(roles)}.")
    if len({role for role, _ in named}) < len(named):
        raise PlanWrong(f"A role stands twice in “{text}”.")
    if len(bare) == len(roles) and not named:
        return dict(zip(roles, bare, strict=True))
    if len(bare) > 1:
        raise PlanWrong(
            f"{grader.title} has {len(roles)} roles ({', '.join(roles)}): name one model for all of them, or {len(roles)}."
        )
    return filled({"": bare[0] if bare else ""} | dict(named), grader)


def filled(players: Players, grader: Grader) -> dict[str, str]:
    """By each role of the grader its alias; roles that it has not are left out. Raises `PlanWrong` for one without a model."""
    found = {role.name: players.get(role.name) or players.get("", "") for role in grader.roles}
    if missing := [role.title for role in grader.roles if not found[role.name]]:
        raise PlanWrong(f"{grader.title}: say which model plays {', '.join(missing)}.")
    return found


def players_written(players: Players, grader: Grader) -> str:
    """The one text that names these players. Raises `PlanWrong` for a role without a model, and where it would be too long."""
    by_role = filled(players, grader)
    aliases = list(by_role.values())
    main = max(aliases, key=Counter(aliases).__getitem__)
    if grader.name == jury.NAME and len(set(aliases)) > 1:
        text = ",".join(aliases)
    else:
        text = ",".join([main, *(f"{role}={alias}" for role, alias in by_role.items() if alias != main)])
    if len(text) > PLAYERS_LENGTH:
        raise PlanWrong(f"The names of the models take more than {PLAYERS_LENGTH} letters together.")
    return text


def aliases_in(players: str) -> set[str]:
    """The aliases that a text of players names."""
    return {part.rpartition("=")[2].strip() for part in players.split(",")} - {""}


def players_titled(players: str, grader: Grader, models: Mapping[str, Alias]) -> str:
    """The players for people: titles of models, with roles where they differ. A text that cannot be read stays as it is."""
    try:
        by_role = players_read(players, grader)
    except PlanWrong:
        return players
    titles = {name: models[name].title if name in models else name for name in by_role.values()}
    if len(titles) == 1:
        return next(iter(titles.values()))
    return ", ".join(f"{role.title}: {titles[by_role[role.name]]}" for role in grader.roles)


def plan_named(variant: Variant, players: str, models: Mapping[str, Alias], **more: Any) -> GradingPlan:
    """The plan of a variant with these players; `more` as `GradingPlan`. Raises `PlanWrong`, also for a model that is gone."""
    by_role = players_read(players, variant.grader)
    if gone := sorted(set(by_role.values()) - set(models)):
        raise PlanWrong(f"There is no model {', '.join(gone)} that may grade; there are {', '.join(models) or 'none'}.")
    aliases = {role: models[alias] for role, alias in by_role.items()}
    overrides = {**more.pop("overrides", {}), **variant.overrides}
    return GradingPlan(variant.grader.name, aliases, overrides, **more)


def graders_of(variants: Sequence[str], teams: Sequence[Players]) -> list[tuple[str, str]]:
    """Each variant with the players of each team, once each. Raises `PlanWrong`."""
    pairs = [(name, players_written(team, variant_of(name).grader)) for name in variants for team in teams]
    return list(dict.fromkeys(pairs))
