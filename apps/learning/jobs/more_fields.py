"""Fields of a job's form for settings of memory and of rows of other policies, with their checks and the shown defaults."""

from collections.abc import Mapping
from dataclasses import asdict
from math import inf
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError

from apps.learning.jobs.hyperparameters import TRAINER
from apps.learning.jobs.settings import LIMITS
from apps.recipes.recipe import Training
from apps.recipes.registry import TRAININGS

#: Fields that `config.json` contains under the same name, where they are set.
PLAIN = (
    "rows_per_step",
    "micro_rows",
    "micro_tokens",
    "learning_rate",
    "last_learning_rate",
    "warmup_steps",
    "gradient_clip",
    "threads",
    "most_lag",
)


#: Trackers that the trainer knows (workers/training/trackers.py).
TRACKERS = ("tensorboard", "wandb", "mlflow", "trackio")
NO_TRACKERS = "none"
#: Words that switch a limit off, and the value of such a field: an infinite limit is none.
OFF_WORDS = ("off", "null", "none")
OFF = inf


class LimitField(forms.FloatField):
    """A number, or “off” for no limit (`OFF`); empty for the recipe's value."""

    widget = forms.TextInput(attrs={"inputmode": "decimal"})
    default_error_messages = {"invalid": "Enter a number or “off”."}

    def clean(self, value: Any) -> float | None:
        """Number of a field; `OFF` where it is switched off."""
        is_off = isinstance(value, str) and value.strip().lower() in OFF_WORDS
        found: float | None = OFF if is_off else super().clean(value)
        return found

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        """No attributes of numbers: a field of text takes “off” too."""
        return {}


class TrackersField(forms.CharField):
    """Names of trackers separated by commas, or “none”; None where it is empty."""

    def clean(self, value: Any) -> Any:
        """Names in the order given. Raises `ValidationError` for an unknown one."""
        names = list(dict.fromkeys(filter(None, (name.strip() for name in str(value or "").split(",")))))
        if names == [NO_TRACKERS]:
            return []
        if NO_TRACKERS in names:
            raise ValidationError(f"“{NO_TRACKERS}” cannot be combined with others.")
        if unknown := [name for name in names if name not in TRACKERS]:
            raise ValidationError(f"Unknown tracker {unknown[0]}. Valid trackers: {', '.join(TRACKERS)}, or {NO_TRACKERS}.")
        return names or None


class MoreFields(forms.Form):
    """Part of a job's form; empty fields take the trainer's or the recipe's values."""

    micro_tokens = forms.IntegerField(
        label="Tokens at once",
        min_value=1,
        max_value=100_000_000,
        required=False,
        help_text="Affects memory only: most tokens of one backward pass.",
    )
    packing = forms.ChoiceField(
        choices=[("", "Yes, where the model keeps rows apart"), ("no", "No: pad rows of similar length")],
        required=False,
        help_text="Rows share sequences without padding.",
    )
    any_template = forms.BooleanField(
        label="Allow rows of another chat template",
        required=False,
        help_text="Otherwise a job stops if its rows were written with another template than the base’s.",
    )
    ratio_cap = LimitField(
        label="Ratio cap",
        min_value=0,
        max_value=1e6,
        required=False,
        help_text="Highest ratio of a token with a negative advantage (dual-clip PPO), or “off”.",
    )
    correction_cap = LimitField(
        label="Correction cap",
        min_value=0,
        max_value=1e6,
        required=False,
        help_text="Highest weight of truncated importance sampling. Needs the line loss.old = recompute.",
    )
    mask_above = LimitField(
        label="Leave out rows above",
        min_value=0,
        max_value=1e6,
        required=False,
        help_text="Mean log-ratio from which rows of negative advantage are left out.",
    )
    trackers = TrackersField(
        label="Trackers",
        required=False,
        max_length=200,
        help_text=f"Any of {', '.join(TRACKERS)}, separated by commas, or {NO_TRACKERS}.",
    )

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields["trackers"].widget.attrs["placeholder"] = ", ".join(settings.TRAIN_TRACKERS) or NO_TRACKERS

    def check_limits(self, values: Mapping[str, Any], card: Training, loss: Mapping[str, Any]) -> None:
        """Reject limits that the trainer would reject; `loss`: the settings of `loss` that the form gives."""
        high = loss.get("high", card.loss_settings.high)
        least = {"ratio_cap": 1.0 if card.objective == "oreal" else 1 + high, "correction_cap": 1.0, "mask_above": 0.0}
        for name in LIMITS:
            value = values.get(name)
            if value is None:
                continue
            if card.is_supervised:
                self.add_error(name, f"{card.title} has no ratios to the rows’ policy. Leave this empty.")
            elif value <= least[name]:
                self.add_error(name, f"Enter a number above {least[name]:g}.")
        if values.get("correction_cap") not in (None, OFF) and not card.is_supervised and loss.get("old") != "recompute":
            self.add_error("correction_cap", "Add the line loss.old = recompute: stored probabilities need no correction.")


def config_of_more(values: Mapping[str, Any]) -> dict[str, Any]:
    """Entries of `config.json` for these fields, without the plain ones and those of the loss."""
    found: dict[str, Any] = {"packing": False} if values.get("packing") == "no" else {}
    found |= {"trackers": values["trackers"]} if values.get("trackers") is not None else {}
    return found | ({"any_template": True} if values.get("any_template") else {})


def fields_of_more(config: Mapping[str, Any]) -> dict[str, Any]:
    """Form values of a `config.json`: the inverse of `config_of_more`."""
    names = config.get("trackers")
    found = {} if names is None else {"trackers": ", ".join(names) or NO_TRACKERS}
    return found | {"packing": "" if config.get("packing", True) else "no", "any_template": bool(config.get("any_template"))}


def shown_defaults() -> dict[str, dict[str, str]]:
    """Defaults by recipe and field, as shown in empty fields."""
    found = {}
    for name, card in TRAININGS.items():
        values = {**TRAINER, **asdict(card.loss_settings), **card.settings(steps=0), "temperature": card.temperature}
        if card.warmup_share:  # A share of the steps, which are not known yet.
            values["warmup_steps"] = None
        fields = (*PLAIN, "beta", "low", "high", "temperature", *LIMITS)
        found[name] = {field: f"{values[field]:g}" for field in fields if values.get(field) is not None}
    return found
