"""The form that starts a trial."""

import uuid
from typing import Any

from django import forms

from apps.reasoning.inference.aliases import Alias
from apps.reasoning.trying.registry import RUNNABLE
from apps.reasoning.trying.trial import methods
from apps.trials.services import PROBLEMS, TrialPlan

SMALLEST_LIMIT = 16


class TrialForm(forms.Form):
    """Number of problems, methods, and limit on new tokens of a trial."""

    problems = forms.TypedChoiceField(
        choices=[(1, "1 problem"), (4, "4 problems"), (PROBLEMS, f"{PROBLEMS} problems")],
        coerce=int,
        initial=4,
        label="Problems",
        help_text="Few for a slow model; more for narrower intervals",
    )
    methods = forms.MultipleChoiceField(
        required=False,
        label="Scaffolds and graders",
        help_text="Leave empty for all",
        choices=lambda: [(name, RUNNABLE[name].title) for name in methods()],
    )
    limit = forms.IntegerField(
        required=False,
        min_value=SMALLEST_LIMIT,
        label="Maximum new tokens per call",
        help_text="Leave empty for half of the model’s context",
    )
    start_id = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)

    def __init__(self, *args: Any, alias: Alias, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.alias = alias
        self.fields["limit"].widget.attrs["placeholder"] = str(alias.context_tokens // 2)

    def plan(self) -> TrialPlan:
        """The trial plan of a valid form."""
        data = self.cleaned_data
        return TrialPlan(self.alias, data["problems"], tuple(data["methods"]), data["limit"])
