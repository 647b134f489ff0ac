"""Settings of a job without a form field, as lines of text: of the loss, of the recipe that makes rows, of a toy.

The part of a name before the dot names its part of `config.json` (docs/learning_jobs.md).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError

from apps.recipes.options import without_effect
from apps.recipes.recipe import LOSS_LIMITS, LOSS_USED
from apps.recipes.registry import TRAININGS

#: Settings of the loss that have a form field.
FIELDS = ("beta", "low", "high", "ratio_cap", "correction_cap", "mask_above")
#: Settings of the loss that are not numbers.
CHOICES: dict[str, tuple[Any, ...]] = {
    "aggregation": ("token", "seq", "fixed", "sum"),
    "old": ("stored", "recompute"),
    "token_rm": (True, False),
}
#: Limits on rows of other policies, with a form field; supervised recipes have none.
LIMITS = LOSS_LIMITS
#: Settings of `loss` without a form field that each objective uses; all others are rejected.
OF_LOSS = {objective: tuple(name for name in used if name not in FIELDS) for objective, used in LOSS_USED.items()}
OF_TOYS: dict[str, dict[str, tuple[Any, ...]]] = {
    "trio": {"strategy": ("random", "balanced", "adaptive"), "planted": (True, False), "single": (True, False)},
    "ask": {"single": (True, False)},
    "notes": {"states": ("cached", "bare"), "groups": ("state", "problem")},
    "arithmetic": {"choice": ("random", "balanced", "adaptive"), "roles": (1, 2, 3)},
}
WHOLE = {"loss.longest": "tokens", "recipe.longest": "tokens", "recipe.margin": "tokens", "held_out.every": "steps"}
MOST = {f"recipe.{option.name}": option.most for recipe in TRAININGS.values() for option in recipe.options}
MOST |= {"held_out.share": 0.5}
#: A toy does not grade turns individually.
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
    """The job that settings are for.

    `toy`: its name, or empty. `makes_rows`: rows come from a toy or from runs, not from a dataset. `has_teacher`: the toy's
    teacher writes the rows.
    """

    recipe: str
    toy: str = ""
    makes_rows: bool = True
    has_teacher: bool = False

    @property
    def known(self) -> dict[str, tuple[Any, ...]]:
        """Allowed settings with their values; no values for a number."""
        names = OF_LOSS[TRAININGS[self.recipe].objective]
        found: dict[str, tuple[Any, ...]] = {f"loss.{name}": CHOICES.get(name, ()) for name in names}
        if self.makes_rows and not self.has_teacher:
            found |= {f"recipe.{option.name}": option.choices for option in TRAININGS[self.recipe].options}
        if self.toy:
            found = {name: values for name, values in found.items() if values != _NOT_OF_TOYS}
        if self.toy:
            found |= {"held_out.every": ()}
        elif not self.makes_rows and not TRAININGS[self.recipe].needs_logprobs:
            found |= {"held_out.every": (), "held_out.share": ()}
        of_toy = {} if self.has_teacher else OF_TOYS.get(self.toy, {})
        return found | {f"toy.{name}": values for name, values in of_toy.items()}


def lines_read(text: str) -> dict[str, Any]:
    """Parse lines `name = value`; a value is JSON where it parses, else a word.

    Raises `ValidationError` for a line without `=` and for a duplicate name.
    """
    found: dict[str, Any] = {}
    for line in filter(str.strip, text.splitlines()):
        name, sign, value = (part.strip() for part in line.partition("="))
        if not sign:
            raise ValidationError(f"Write name = value on each line. This line has no =: {line.strip()[:80]}")
        if name in found:
            raise ValidationError(f"{name} is set twice. Keep one line.")
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
            found[name] = value
    return found


def lines_of(config: Mapping[str, Any]) -> str:
    """Settings of a job's `config.json` without a form field, as lines."""
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
    """Settings from lines of text. Raises `ValidationError` for an unknown name, with the valid names, or a wrong value."""
    known, found = learner.known, Settings()
    for name, value in lines_read(text).items():
        if name.removeprefix("loss.") in FIELDS and name.startswith("loss."):
            raise ValidationError(f"{name} has a field of its own. Enter its value there.")
        if name not in known:
            valid = f"Valid settings: {', '.join(known)}." if known else "This job has no other settings."
            raise ValidationError(f"Unknown setting {name}. {valid}")
        if value is None:  # config.json writes null for a setting that is off.
            continue
        allowed = known[name]
        if allowed and not any(value is one or (isinstance(one, str) and value == one) for one in allowed):
            raise ValidationError(f"{name} must be one of {', '.join(json.dumps(one).strip(chr(34)) for one in allowed)}.")
        if not allowed:
            _check_number(name, value)
        part, _, key = name.partition(".")
        getattr(found, part)[key] = value
    _check_together(found)
    return found


def _check_number(name: str, value: Any) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    least = 0 if name.startswith("recipe.") else 1  # 0 switches a recipe's option off.
    if name in WHOLE and not (is_number and isinstance(value, int) and value >= least):
        raise ValidationError(f"{name} must be a whole number of {WHOLE[name]}, at least {least}.")
    if not is_number or not 0 <= value < float("inf"):
        raise ValidationError(f"{name} must be a number, 0 or more.")
    if value > MOST.get(name, value):
        raise ValidationError(f"{name} must be at most {MOST[name]:,.10g}.")


def _check_together(found: Settings) -> None:
    is_fixed = found.loss.get("aggregation") == "fixed"
    if is_fixed != ("longest" in found.loss):
        raise ValidationError("Set loss.longest (longest completion, in tokens) together with loss.aggregation = fixed.")
    if "share" in found.held_out and not (found.held_out["share"] and "every" in found.held_out):
        raise ValidationError("held_out.share must be above 0 and needs held_out.every, the steps between two scores.")
    if (unused := without_effect(found.recipe)) is not None:
        raise ValidationError(f"recipe.{unused[0]}: {unused[1]}")
    if found.recipe.get("margin", 0) > found.recipe.get("longest", 0):
        raise ValidationError("recipe.margin is the last part of recipe.longest and cannot exceed it.")
