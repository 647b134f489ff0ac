"""The form for grading one script."""

import uuid
from typing import Any

from django import forms

from apps.graders.option_forms import OptionsForm
from apps.graders.planning.naming import plan_named, players_written
from apps.graders.planning.plans import GradingPlan
from apps.graders.player_forms import PlayersForm, variant_choices, variant_with
from apps.marks.graders.families import MARKS_LABEL
from apps.reasoning.graders.material import SCRIPT_LENGTH
from apps.reasoning.inference.aliases import Alias


class GradingForm(PlayersForm, OptionsForm):
    """A grader, its models and the script."""

    start_id = forms.UUIDField(required=False, widget=forms.HiddenInput, initial=uuid.uuid4)
    workflow = forms.ChoiceField(label="Grader", choices=variant_choices)
    alias = forms.ChoiceField(label="Model", help_text="Used for every role that has no model of its own below.")
    is_neutral = forms.BooleanField(
        required=False, label="Judge a neutral rewriting of the script, which is stored and shown next to it"
    )
    has_marks = forms.BooleanField(required=False, label=MARKS_LABEL)
    script = forms.CharField(
        label="Script",
        max_length=SCRIPT_LENGTH,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 16, "spellcheck": "false"}),
        help_text="Original text with formulas. Lemmascope splits it into numbered steps.",
    )

    def __init__(self, *args: Any, aliases: dict[str, Alias], **kwargs: Any) -> None:
        super().__init__(*args, aliases=aliases, **kwargs)
        field = self.fields["alias"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [(name, one.title) for name, one in aliases.items()]

    def clean(self) -> dict[str, Any]:
        """Refuse models for roles and options that the grader does not have."""
        data = super().clean() or {}
        if data.get("workflow"):
            self.refuse_unknown_roles([data["workflow"]])
            self.refuse_options([data["workflow"]])
        return data

    def plan(self) -> GradingPlan:
        """The grading plan of a valid form. Raises `PlanWrong`."""
        data = self.cleaned_data
        chosen = {"neutral": data["is_neutral"], "marks": data["has_marks"]}
        variant = variant_with(data["workflow"], *(manner for manner, on in chosen.items() if on))
        players = players_written({"": data["alias"], **self.players()}, variant.grader)
        return plan_named(variant, players, self.known, overrides=self.options())
