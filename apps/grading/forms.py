"""The form that lets a script be graded."""

import uuid
from typing import Any

from django import forms

from apps.grading.plans import GradingPlan
from apps.reasoning.graders.material import SCRIPT_LENGTH
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.inference.aliases import Alias


class GradingForm(forms.Form):
    """A grader, a model for all of its roles, and the script."""

    start_id = forms.UUIDField(required=False, widget=forms.HiddenInput, initial=uuid.uuid4)
    workflow = forms.ChoiceField(label="Grader", choices=[(name, one.title) for name, one in GRADERS.items()])
    alias = forms.ChoiceField(label="Model", help_text="Plays every role.")
    script = forms.CharField(
        label="Script",
        max_length=SCRIPT_LENGTH,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 16, "spellcheck": "false"}),
        help_text="Text with formulas, as it was written. It is cut into numbered steps.",
    )

    def __init__(self, *args: Any, aliases: dict[str, Alias], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.aliases = aliases
        field = self.fields["alias"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [(name, one.title) for name, one in aliases.items()]

    def plan(self) -> GradingPlan:
        """The plan that a valid form describes."""
        return GradingPlan(self.cleaned_data["workflow"], {"": self.aliases[self.cleaned_data["alias"]]})
