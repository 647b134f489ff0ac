"""Settings of a job beyond its form's fields, as lines of text: of the loss, of the recipe that makes rows, of a toy.

Each name has the part of `config.json` before a point that it stands in (docs/learning_jobs.md).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError

from apps.datasets.recipes import RECIPES, without_effect
from apps.learning.recipes import recipe_cards

#: In the form as fields of their own.
FIELDS = ("beta", "low", "high")
#: Settings of the loss that are no numbers.
CHOICES: dict[str, tuple[Any, ...]] = {
    "aggregation": ("token", "seq", "fixed", "sum"),
    "old": ("stored", "recompute"),
    "token_rm": (True, False),
}
#: What each objective reads of `loss`: nothing that would have no effect is taken.
_CLIPPED = ("aggregation", "longest", "entropy_bonus", "mastered_below", "old")
_OREAL = ("positive", "negative", "token_rm", "old")
OF_LOSS = {"clipped": _CLIPPED, "clipped_with_values": _CLIPPED, "oreal": _OREAL, "supervised": ()}
OF_TOYS: dict[str, dict[str, tuple[Any, ...]]] = {
    "trio": {"strategy": ("random", "balanced", "adaptive")},
    "ask": {"single": (True, False)},
}
WHOLE = {"loss.longest": "tokens", "recipe.longest": "tokens", "recipe.margin": "tokens", "held_out.every": "steps"}
MOST = {f"recipe.{option.name}": option.most for recipe in RECIPES.values() for option in recipe.options}
MOST |= {"held_out.share": 0.5}
#: A toy does not grade its turns one by one.
_NOT_OF_TOYS = ("episode", "turn")


@dataclass(frozen=True)
class Settings:
    """By part of `config.json`: `loss`, `source.recipe_options`, `source.options`, `held_out`."""

    loss: dict[str, Any] = field(default_factory=dict)
    recipe: dict[str, Any] = field(default_factory=dict)
    toy: dict[str, Any] = field(default_factory=dict)
    held_out: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Learner:
    """What settings are for. `toy`: its name, empty for none; `makes_rows`: not from a dataset; `has_teacher`: the toy's."""

    recipe: str
    toy: str = ""
    makes_rows: bool = True
    has_teacher: bool = False

    @property
    def known(self) -> dict[str, tuple[Any, ...]]:
        """Names with the values that they may have; none where it is a number."""
        names = OF_LOSS[recipe_cards()[self.recipe].objective]
        found: dict[str, tuple[Any, ...]] = {f"loss.{name}": CHOICES.get(name, ()) for name in names}
        if self.makes_rows and not self.has_teacher:
            found |= {f"recipe.{option.name}": option.choices for option in RECIPES[self.recipe].options}
        if self.toy:
            found = {name: values for name, values in found.items() if values != _NOT_OF_TOYS}
        if self.toy:
            found |= {"held_out.every": ()}
        elif not self.makes_rows and not recipe_cards()[self.recipe].needs_logprobs:
            found |= {"held_out.every": (), "held_out.share": ()}
        of_toy = {} if self.has_teacher else OF_TOYS.get(self.toy, {})
        return found | {f"toy.{name}": values for name, values in of_toy.items()}


def lines_read(text: str) -> dict[str, Any]:
    """`name = value` a line; a value is JSON where it can be read so, else a word.

    Raises `ValidationError` for a line without a sign and for a name that stands there twice.
    """
    found: dict[str, Any] = {}
    for line in filter(str.strip, text.splitlines()):
        name, sign, value = (part.strip() for part in line.partition("="))
        if not sign:
            raise ValidationError(f"Write name = value on each line; this one has no =: {line.strip()[:80]}")
        if name in found:
            raise ValidationError(f"{name} stands there twice.")
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
            found[name] = value
    return found


def lines_of(config: Mapping[str, Any]) -> str:
    """The settings of a job's `config.json` that have no field, as lines."""
    source = config.get("source") or {}
    parts = {"loss": config.get("loss") or {}, "recipe": source.get("recipe_options") or {}, "toy": source.get("options") or {}}
    parts |= {"held_out": config.get("held_out") or {}}
    return "\n".join(
        f"{part}.{name} = {value if isinstance(value, str) else json.dumps(value)}"
        for part, values in parts.items()
        for name, value in values.items()
        if not (part == "loss" and name in FIELDS)
    )


def settings_read(text: str, learner: Learner) -> Settings:
    """What the lines say. Raises `ValidationError` naming the first line that means nothing here, with what there is."""
    known, found = learner.known, Settings()
    for name, value in lines_read(text).items():
        if name not in known:
            there = f"There are: {', '.join(known)}." if known else "This job has none."
            raise ValidationError(f"There is no setting {name} here. {there}")
        if value is None:  # As config.json writes what is off.
            continue
        allowed = known[name]
        if allowed and not any(value is one or (isinstance(one, str) and value == one) for one in allowed):
            raise ValidationError(f"{name} is one of {', '.join(json.dumps(one).strip(chr(34)) for one in allowed)}.")
        if not allowed:
            _check_number(name, value)
        part, _, key = name.partition(".")
        getattr(found, part)[key] = value
    _check_together(found)
    return found


def _check_number(name: str, value: Any) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    least = 0 if name.startswith("recipe.") else 1  # 0 of a recipe's is off.
    if name in WHOLE and not (is_number and isinstance(value, int) and value >= least):
        raise ValidationError(f"{name} is a whole number of {WHOLE[name]}, at least {least}.")
    if not is_number or not 0 <= value < float("inf"):
        raise ValidationError(f"{name} is a number that is not negative.")
    if value > MOST.get(name, value):
        raise ValidationError(f"{name} is at most {MOST[name]:,.10g}.")


def _check_together(found: Settings) -> None:
    is_fixed = found.loss.get("aggregation") == "fixed"
    if is_fixed != ("longest" in found.loss):
        raise ValidationError("loss.longest, the longest completion in tokens, goes with loss.aggregation = fixed alone.")
    if "share" in found.held_out and not (found.held_out["share"] and "every" in found.held_out):
        raise ValidationError("held_out.share, above 0, goes with held_out.every, the steps from one score to the next.")
    if (said := without_effect(found.recipe)) is not None:
        raise ValidationError(f"recipe.{said[0]}: {said[1]}")
    if found.recipe.get("margin", 0) > found.recipe.get("longest", 0):
        raise ValidationError("recipe.margin is the last part of recipe.longest, so it cannot be more.")
