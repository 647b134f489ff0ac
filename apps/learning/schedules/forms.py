"""Form of a simulated schedule; its address can be shared."""

from dataclasses import fields
from typing import Any

from django import forms

from apps.learning.schedules.schedule import Setting, too_large

MOST_SLOTS = 1_000_000
MOST_SEED = 2**32
MOST_SEGMENTS = 16
THOUSANDS = "thousands of tokens."


class ScheduleForm(forms.Form):
    """Fields of `Setting`. A field missing from the address has its default."""

    problems = forms.IntegerField(label="Problems per batch", min_value=1, max_value=1024)
    group = forms.IntegerField(label="Answers per group", min_value=1, max_value=64)
    chosen = forms.IntegerField(label="Inputs chosen", min_value=1, max_value=8, help_text="For each role after the Solver.")
    slots = forms.IntegerField(
        label="Decoding slots",
        min_value=1,
        max_value=MOST_SLOTS,
        help_text="Number of answers written at once, all at the same speed.",
    )
    steps = forms.IntegerField(label="Steps", min_value=1, max_value=64, help_text="Number of steps, each with its own batch.")
    solver_mean = forms.FloatField(label="Solver’s mean length", min_value=0.1, max_value=1000, help_text=f"In {THOUSANDS}")
    other_mean = forms.FloatField(label="Others’ mean length", min_value=0.1, max_value=1000, help_text=f"In {THOUSANDS}")
    spread = forms.FloatField(label="Spread", min_value=0, max_value=2, help_text="Standard deviation of a length’s logarithm.")
    cap = forms.FloatField(label="Longest answer", min_value=0.1, max_value=1000, help_text=f"In {THOUSANDS}")
    segment = forms.FloatField(label="Segment", min_value=0.1, max_value=1000, help_text=f"In {THOUSANDS}")
    first_flagged = forms.FloatField(
        label="Flagged first", min_value=0, max_value=1, help_text="Probability that Verifier 1 flags any answer."
    )
    then_flagged = forms.FloatField(
        label="Flagged again", min_value=0, max_value=1, help_text="Probability for Verifier 2, if Verifier 1 flagged one."
    )
    training = forms.FloatField(
        label="Training", min_value=0, max_value=10, help_text="Ratio of training time to a step’s ideal rollout time."
    )
    seed = forms.IntegerField(label="Seed", min_value=0, max_value=MOST_SEED)

    def __init__(self, given: Any) -> None:
        whole = {field.name: given.get(field.name, field.default) for field in fields(Setting)}
        super().__init__(whole)
        for field in self.fields.values():
            field.widget.attrs["step"] = "any" if isinstance(field, forms.FloatField) else "1"

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not self.errors:
            setting = Setting(**cleaned)
            if setting.cap / setting.segment > MOST_SEGMENTS:
                self.add_error("segment", f"An answer may have at most {MOST_SEGMENTS} segments.")
            refusal = too_large(setting)
            if refusal:
                self.add_error("steps", refusal)
        return cleaned

    @property
    def setting(self) -> Setting:
        """Setting of a valid form."""
        return Setting(**self.cleaned_data)
