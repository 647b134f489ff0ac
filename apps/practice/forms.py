"""Forms of practice: questions, remarks, answers and the rules of a sheet."""

from typing import Any

from django import forms

from apps.practice.models import SHORT_LENGTH, WORDS_LENGTH, Outcome, SolutionAt
from apps.results.words import FALLACIES

_SHORT = {"rows": 2, "maxlength": SHORT_LENGTH}


class QuestionForm(forms.Form):
    """A question about a version; `step` 0 is the whole text."""

    words = forms.CharField(
        max_length=SHORT_LENGTH,
        widget=forms.Textarea(attrs=_SHORT),
        label="Where are you stuck, or what do you want to know?",
        help_text="One sentence. The coach reads it with your text.",
    )
    step = forms.TypedChoiceField(coerce=int, required=False, label="About")

    def __init__(self, steps: int, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        field = self.fields["step"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(0, "the whole text"), *((number, f"step {number}") for number in range(1, steps + 1))]


class WordsForm(forms.Form):
    """One sentence of a student: an explanation or a disagreement."""

    words = forms.CharField(max_length=SHORT_LENGTH, widget=forms.Textarea(attrs=_SHORT))


class RemarkForm(forms.Form):
    """A coach's remark at a step."""

    step = forms.IntegerField(min_value=0, max_value=100_000)
    kind = forms.ChoiceField(required=False, label="Kind", choices=[("", "No error: a comment"), *FALLACIES.items()])
    words = forms.CharField(
        required=False, max_length=WORDS_LENGTH, widget=forms.Textarea(attrs={"rows": 3, "maxlength": WORDS_LENGTH})
    )
    grants = forms.BooleanField(required=False, label="Grant this step")
    reference_step = forms.IntegerField(required=False, min_value=0, max_value=500)

    def clean_reference_step(self) -> int:
        return self.cleaned_data.get("reference_step") or 0


class AnswerForm(forms.Form):
    """A coach's answer to a question."""

    outcome = forms.ChoiceField(choices=Outcome.choices, widget=forms.RadioSelect, label="Outcome")
    words = forms.CharField(
        required=False,
        max_length=WORDS_LENGTH,
        label="Answer",
        widget=forms.Textarea(attrs={"rows": 5, "maxlength": WORDS_LENGTH}),
    )


class DecisionForm(forms.Form):
    """A coach's decision about a disagreement or a claim."""

    holds = forms.TypedChoiceField(choices=[("yes", "Yes"), ("no", "No")], coerce=lambda value: value == "yes")
    reply = forms.CharField(required=False, max_length=SHORT_LENGTH)


class HelpRulesForm(forms.Form):
    """The rules of help of a sheet."""

    checks_formulas = forms.BooleanField(required=False, label="Check formulas while students write")
    asks_coaches = forms.BooleanField(required=False, label="Students may ask coaches")
    gives_hints = forms.BooleanField(required=False, label="Students may take the hints of the problem")
    hint_wait = forms.IntegerField(min_value=0, max_value=1440, label="Minutes between two hints")
    solution_at = forms.ChoiceField(choices=SolutionAt.choices, label="Students compare with a solution")
    model = forms.ChoiceField(
        required=False,
        label="Remarks of a model",
        help_text="Unchecked remarks on the first broken step, labelled as such. Choose none to forbid model calls.",
    )

    def __init__(self, *args: Any, models: dict[str, str], chosen: str = "", **options: Any) -> None:
        super().__init__(*args, **options)
        kept = {chosen: f"{chosen} (not in models.toml now)"} if chosen and chosen not in models else {}
        field = self.fields["model"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", "None"), *models.items(), *kept.items()]
