"""Settings of a job beyond its form's fields, as lines of text: of the loss, of the recipe that makes rows, of a toy.

Each name has the part of `config.json` before a point that it stands in (docs/learning_jobs.md).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError

from apps.datasets.recipes import RECIPES
from apps.learning.recipes import recipe_cards

#: In the form as fields of their own.
FIELDS = ("beta", "low", "high")
AGGREGATIONS = ("token", "seq", "fixed", "sum")
#: What recipes' `rows` take beside the options of a dataset, and toys.
OF_RECIPES = {"turn_dapo": ("longest", "margin")}
WHOLE = ("loss.longest", "recipe.longest", "recipe.margin")
OF_TOYS: dict[str, dict[str, tuple[Any, ...]]] = {
    "trio": {"strategy": ("random", "balanced", "adaptive")},
    "ask": {"single": (True, False)},
}


@dataclass(frozen=True)
class Settings:
    """By part of `config.json`: `loss`, `source.recipe_options`, `source.options`."""

    loss: dict[str, Any] = field(default_factory=dict)
    recipe: dict[str, Any] = field(default_factory=dict)
    toy: dict[str, Any] = field(default_factory=dict)


def lines_read(text: str) -> dict[str, Any]:
    """`name = value` a line; a value is JSON where it can be read so, else a word."""
    found: dict[str, Any] = {}
    for line in filter(str.strip, text.splitlines()):
        name, _, value = (part.strip() for part in line.partition("="))
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
            found[name] = value
    return found


def settings_read(text: str, *, recipe: str, toy: str, makes_rows: bool) -> Settings:
    """What the lines say for a job of `recipe`. `toy`: its name, empty for none; `makes_rows`: not from a dataset.

    Raises `ValidationError` naming the first line that means nothing here, with what there is.
    """
    known = _known(recipe, toy, makes_rows=makes_rows)
    found = Settings()
    for name, value in lines_read(text).items():
        if name not in known:
            raise ValidationError(f"There is no setting {name} here. There are: {', '.join(known)}.")
        allowed = known[name]
        if allowed and not any(value is one or (isinstance(one, str) and value == one) for one in allowed):
            raise ValidationError(f"{name} is one of {', '.join(json.dumps(one).strip(chr(34)) for one in allowed)}.")
        if not allowed:
            _check_number(name, value)
        part, _, key = name.partition(".")
        getattr(found, part)[key] = value
    if found.loss.get("aggregation") == "fixed" and not found.loss.get("longest"):
        raise ValidationError("The aggregation fixed needs loss.longest, the longest completion in tokens.")
    return found


def _check_number(name: str, value: Any) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if name in WHOLE and not (is_number and isinstance(value, int) and value > 0):
        raise ValidationError(f"{name} is a whole number of tokens, at least 1.")
    if not is_number or not 0 <= value < float("inf"):
        raise ValidationError(f"{name} is a number that is not negative.")


def _known(recipe: str, toy: str, *, makes_rows: bool) -> Mapping[str, tuple[Any, ...]]:
    """Names with the values that they may have; none where it is a number."""
    names = [name for name in recipe_cards()[recipe].defaults["loss"] if name not in FIELDS]
    found: dict[str, tuple[Any, ...]] = {f"loss.{name}": AGGREGATIONS if name == "aggregation" else () for name in names}
    if makes_rows:
        found |= {f"recipe.{option.name}": option.choices for option in RECIPES[recipe].options}
        found |= {f"recipe.{name}": () for name in OF_RECIPES.get(recipe, ())}
    return found | {f"toy.{name}": values for name, values in OF_TOYS.get(toy, {}).items()}
