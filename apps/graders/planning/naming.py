"""Names of model graders: a workflow, its manners (variants of judging), and the models of its roles.

| name | meaning |
|---|---|
| `single_turn@big` | one model in every role |
| `jury@big,small,other` | one model per role, in the order of the roles |
| `ref5_plain@small,grader=big` | one model for all roles except the named ones |
| `scheme+advisory@big`, `jury+neutral@big` | points by the grader itself; judges a neutral rewriting of the script |
| `single_turn+marks@big` | reads which formulas of the script the formula check proved or refuted |
| `single_turn+guidelines@big` | its view includes the guidelines for markers (`graders/view.py`) |

The part after the @ are the *players*. Each grader has exactly one name, so that names can be compared. Manners are in the
order of `MANNERS`. A jury lists its judges in order; other graders list the model with the most roles first.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from apps.graders.planning.plans import GradingPlan, PlanWrong
from apps.graders.planning.shown import shown_of
from apps.reasoning.graders import jury, with_scheme
from apps.reasoning.graders.grader import Grader
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.graders.view import GUIDELINES, View
from apps.reasoning.inference.aliases import Alias

#: Longest text with the models of a grader, in characters; cells store it.
PLAYERS_LENGTH = 200
#: Parameters by manner.
MANNERS: dict[str, dict[str, Any]] = {
    "advisory": {"strict": False},
    GUIDELINES: {},
    "neutral": {"neutral": True},
    "marks": {"marks": True},
}
#: Manners with a field of their own in forms, next to the choice of the grader.
APART = ("neutral", "marks")
_WORDS = {
    "advisory": ", advisory",
    GUIDELINES: " with guidelines",
    "neutral": " in a neutral rewriting",
    "marks": " with marks of formulas",
}
Players = Mapping[str, str]
"""Aliases by role; "" is the alias of all other roles."""


@dataclass(frozen=True)
class Variant:
    """A workflow with a combination of manners."""

    name: str
    grader: Grader
    manners: tuple[str, ...]

    @property
    def title(self) -> str:
        """The title for display."""
        return "".join([self.grader.title, *(_WORDS[one] for one in self.manners)])

    @property
    def overrides(self) -> dict[str, Any]:
        """The parameters of its manners."""
        found = {name: value for one in self.manners for name, value in MANNERS[one].items()}
        return found | ({"view": self.view} if GUIDELINES in self.manners else {})

    @property
    def view(self) -> View:
        """The view of its grader, with guidelines if it has that manner."""
        return self.grader.view.also(*{GUIDELINES} & set(self.manners))


def _variants(grader: Grader) -> list[Variant]:
    may_show = grader.may_show(grader.presets["original"].params)
    left_out = {"advisory"} if grader.name != with_scheme.NAME else set()
    left_out |= {GUIDELINES} - may_show
    known = [one for one in MANNERS if one not in left_out]
    chosen = [[one for one, is_on in zip(known, on, strict=True) if is_on] for on in product((False, True), repeat=len(known))]
    return [Variant("+".join([grader.name, *some]), grader, tuple(some)) for some in chosen]


#: Every workflow with every combination of manners, by name.
VARIANTS: dict[str, Variant] = {one.name: one for grader in GRADERS.values() for one in _variants(grader)}
#: Names of variants that grade by a marking scheme.
BY_SCHEME = tuple(name for name, one in VARIANTS.items() if "scheme" in one.grader.needs)


def variant_of(text: str) -> Variant:
    """The variant of this name, with manners in any order. Raises `PlanWrong`."""
    workflow, *manners = text.split("+")
    if workflow not in GRADERS:
        raise PlanWrong(f"No grader {workflow}. Choose one of: {', '.join(GRADERS)}.")
    name = "+".join([workflow, *(one for one in MANNERS if one in manners)])
    if len(set(manners)) < len(manners) or not set(manners) <= set(MANNERS):
        raise PlanWrong(
            f"{GRADERS[workflow].title} has no variant “{'+'.join(manners)}”. Use each of these at most once: "
            f"{', '.join(MANNERS)}."
        )
    if name in VARIANTS:
        return VARIANTS[name]
    if GUIDELINES in manners:
        grader = GRADERS[workflow]
        shown = Material(script="", view=grader.view.also(GUIDELINES))
        if trouble := grader.cannot_show(shown):
            raise PlanWrong(trouble)
    raise PlanWrong(f"Only {GRADERS[with_scheme.NAME].title} can be advisory. Remove “advisory” from the name.")


def title_of(name: str) -> str:
    """The title of a variant for pages; the name itself for a removed variant."""
    return VARIANTS[name].title if name in VARIANTS else name


def variant_asked(workflow: str, params: Mapping[str, Any]) -> Variant:
    """The variant of a grading with these parameters."""
    is_shown = shown_of(workflow, params).view.guidelines
    manners = [
        manner
        for manner, asked in MANNERS.items()
        if (is_shown if manner == GUIDELINES else all(params.get(name) == value for name, value in asked.items()))
    ]
    return VARIANTS.get("+".join([workflow, *manners]), VARIANTS[workflow])


def players_read(text: str, grader: Grader) -> dict[str, str]:
    """The alias of each role of the grader. Raises `PlanWrong` with the correct notation."""
    roles = [role.name for role in grader.roles]
    parts = [part.strip() for part in text.split(",")]
    bare = [part for part in parts if "=" not in part]
    named = [(role.strip(), alias.strip()) for role, _, alias in (part.partition("=") for part in parts if "=" in part)]
    if "" in bare or any(not role or not alias for role, alias in named):
        raise PlanWrong(f"A name is missing in “{text}”. Give one model, one per role, or ROLE=MODEL, separated by commas.")
    wrong = sorted({role for role, _ in named} - set(roles))
    if wrong:
        raise PlanWrong(f"{grader.title} has no role {', '.join(wrong)}. Choose from: {', '.join(roles)}.")
    if len({role for role, _ in named}) < len(named):
        raise PlanWrong(f"Duplicate role in “{text}”. Name each role once.")
    if len(bare) == len(roles) and not named:
        return dict(zip(roles, bare, strict=True))
    if len(bare) > 1:
        raise PlanWrong(
            f"{grader.title} has {len(roles)} roles ({', '.join(roles)}). Name one model for all roles, or {len(roles)} models."
        )
    return filled({"": bare[0] if bare else ""} | dict(named), grader)


def filled(players: Players, grader: Grader) -> dict[str, str]:
    """The alias of each role of the grader; other roles are ignored. Raises `PlanWrong` for a role without a model."""
    found = {role.name: players.get(role.name) or players.get("", "") for role in grader.roles}
    if missing := [role.title for role in grader.roles if not found[role.name]]:
        raise PlanWrong(f"{grader.title} has no model for {', '.join(missing)}.")
    return found


def players_written(players: Players, grader: Grader) -> str:
    """The canonical text of these players. Raises `PlanWrong` for a role without a model or a text that is too long."""
    by_role = filled(players, grader)
    aliases = list(by_role.values())
    main = max(aliases, key=Counter(aliases).__getitem__)
    if grader.name == jury.NAME and len(set(aliases)) > 1:
        text = ",".join(aliases)
    else:
        text = ",".join([main, *(f"{role}={alias}" for role, alias in by_role.items() if alias != main)])
    if len(text) > PLAYERS_LENGTH:
        raise PlanWrong(f"The names of the models exceed {PLAYERS_LENGTH} characters in total. Use fewer or shorter names.")
    return text


def aliases_in(players: str) -> set[str]:
    """The aliases in a text of players."""
    return {part.rpartition("=")[2].strip() for part in players.split(",")} - {""}


def players_titled(players: str, grader: Grader, models: Mapping[str, Alias]) -> str:
    """The players for display: titles of models, with roles if they differ. An unreadable text is returned unchanged."""
    try:
        by_role = players_read(players, grader)
    except PlanWrong:
        return players
    titles = {name: models[name].title if name in models else name for name in by_role.values()}
    if len(titles) == 1:
        return next(iter(titles.values()))
    return ", ".join(f"{role.title}: {titles[by_role[role.name]]}" for role in grader.roles)


def plan_named(variant: Variant, players: str, models: Mapping[str, Alias], **more: Any) -> GradingPlan:
    """The plan of a variant with these players; `more` as for `GradingPlan`. Raises `PlanWrong`, also for a removed model."""
    by_role = players_read(players, variant.grader)
    if gone := sorted(set(by_role.values()) - set(models)):
        raise PlanWrong(f"No grading model {', '.join(gone)}. Choose from: {', '.join(models) or 'none'}.")
    aliases = {role: models[alias] for role, alias in by_role.items()}
    overrides = {**more.pop("overrides", {}), **variant.overrides}
    return GradingPlan(variant.grader.name, aliases, overrides, **more)


def graders_of(variants: Sequence[str], teams: Sequence[Players]) -> list[tuple[str, str]]:
    """Each variant with the players of each team, without duplicates. Raises `PlanWrong`."""
    pairs = [(name, players_written(team, variant_of(name).grader)) for name in variants for team in teams]
    return list(dict.fromkeys(pairs))
