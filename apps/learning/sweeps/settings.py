"""Settings that a sweep may vary: their names, their values as text, and their places in a job's form.

Names are those of `config.json` (docs/learning_jobs.md).
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.core.exceptions import ValidationError

from apps.learning.jobs.configs import learner_of
from apps.learning.jobs.hyperparameters import GROUPS, TRAINER
from apps.learning.jobs.more_fields import OFF_WORDS
from apps.learning.jobs.settings import FIELDS, LIMITS, lines_read
from apps.recipes.registry import TRAININGS

SEED, RATE, LAST_RATE = "seed", "learning_rate", "last_learning_rate"
#: Settings with a form field of the same name.
PLAIN = (SEED, RATE, LAST_RATE, "rows_per_step", "warmup_steps", "gradient_clip", "steps", "most_lag")
#: Settings that can be off: limits without a value.
MAY_BE_OFF = tuple(f"loss.{name}" for name in LIMITS)
TITLES = {name: title for group in GROUPS.values() for name, title in group.items()}
TITLES |= {"lora.rank": "LoRA rank", "lora.alpha": "LoRA α", "recipe": "Recipe", "data": "Data", "base": "Starts from"}
#: Entries of `config.json` that are no settings, or have settings of their own.
_PARTS = frozenset({"format", "parent", "dataset", "loss", "lora", "held_out", "source", "trackers"})
#: Separates values.
COMMA = ","


def names_of(config: Mapping[str, Any]) -> dict[str, str]:
    """Settings that jobs like this one may vary, with their displayed names."""
    card = TRAININGS[config["recipe"]]
    names = [name for name in PLAIN if name != "most_lag" or config["source"].get("kind") == "stream"]
    if card.objective != "supervised":
        own = ("beta", *LIMITS) if card.objective == "oreal" else FIELDS
        names += [f"loss.{name}" for name in own]
    names += ["lora.rank", "lora.alpha"] if config.get("lora") else []
    return {name: TITLES.get(name, name) for name in [*names, *learner_of(config).known]}


def values_read(text: str) -> list[Any]:
    """Values separated by commas or lines: numbers, true, false, words; “off” or “null” is None.

    Raises `ValidationError` for no value, a value that comes twice, and values of different kinds.
    """
    found: list[Any] = []
    for word in filter(None, (one.strip() for one in text.replace("\n", COMMA).split(COMMA))):
        value = _value(word)
        if any(_same(value, one) for one in found):
            raise ValidationError(f"{word} is given twice.")
        found.append(value)
    if not found:
        raise ValidationError("Give at least one value. Separate values by commas.")
    kinds = {_kind(one): one for one in reversed(found) if one is not None}
    if len(kinds) > 1:
        mixed = " and ".join(f"{shown(one)} ({kind})" for kind, one in kinds.items())
        raise ValidationError(f"All values must be of one kind, but these are mixed: {mixed}.")
    return found


def _value(word: str) -> Any:
    if word.lower() in OFF_WORDS:
        return None
    try:
        found = json.loads(word)
    except (ValueError, RecursionError):
        return word
    return found if isinstance(found, int | float | str) else word


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    return "a number" if isinstance(value, int | float) else "a word"


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def shown(value: Any) -> str:
    """A value as it is written in a sweep's form."""
    if value is None:
        return "off"
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return value if isinstance(value, str) else json.dumps(value)


def label(values: Mapping[str, Any]) -> str:
    """Settings and values of a run in one line."""
    return ", ".join(f"{name} {shown(value)}" for name, value in values.items())


def form_with(fields: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a job's form with these settings changed. Other settings are lines of text."""
    found, more = dict(fields), {}
    for name, value in values.items():
        part, _, key = name.partition(".")
        if name in PLAIN:
            found[name] = "" if value is None else value
        elif part == "loss" and key in FIELDS:
            found[key] = "off" if value is None else value
        elif part == "lora":
            found[f"lora_{key}"] = value
        else:
            more[name] = value
    if more:
        kept = lines_read(str(found.get("settings") or "")) | more
        lines = (f"{name} = {one if isinstance(one, str) else json.dumps(one)}" for name, one in kept.items())
        found["settings"] = "\n".join(lines)
    return found


def in_force(config: Mapping[str, Any]) -> dict[str, Any]:
    """All settings that a job learns by, as flat names; those of the recipe and of the trainer where it sets none."""
    card = TRAININGS[config["recipe"]]
    source = config.get("source") or {}
    found = (
        TRAINER | card.settings(steps=int(config["steps"])) | {name: one for name, one in config.items() if name not in _PARTS}
    )
    parts = {"loss": asdict(card.loss_settings) | (config.get("loss") or {}), "lora": config.get("lora") or {}}
    parts |= {"recipe": source.get("recipe_options") or {}, "toy": source.get("options") or {}}
    parts |= {"held_out": config.get("held_out") or {}}
    return found | {f"{part}.{name}": value for part, values in parts.items() for name, value in values.items()}
