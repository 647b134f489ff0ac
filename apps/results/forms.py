"""Forms of results: releases, appeals and their answers, hints and their rules."""

from collections.abc import Mapping
from typing import Any

from django import forms

from apps.marks.models import ReleasePart
from apps.reasoning.feedback.ladder import TOP, WORDS_LENGTH, Track

APPEAL_AT_LEAST, APPEAL_AT_MOST = 20, 4_000
HINT_AT_MOST = 20_000

PART_HELP = {
    ReleasePart.COMMENTS: "Comments for students and the scheme’s remarks, next to their steps. Never comments for markers.",
    ReleasePart.VERDICTS: "Errors at their steps, and which errors follow from others.",
    ReleasePart.POINTS: "The points, the items found, and how the points follow from them.",
    ReleasePart.SCHEME: "All items with their texts, including zero-credit items and caps. Never notes.",
    ReleasePart.SOLUTION: "The reference solutions of the library, for all participants of the contest.",
    ReleasePart.STATISTICS: "Number of texts by points, if there are at least five texts.",
}


class ReleaseForm(forms.Form):
    """The parts of a batch. `expected`: token of the readiness that the organiser saw."""

    parts = forms.MultipleChoiceField(choices=ReleasePart.choices, widget=forms.CheckboxSelectMultiple)
    leaves_out = forms.BooleanField(required=False)
    expected = forms.CharField(max_length=64, widget=forms.HiddenInput)


class AppealForm(forms.Form):
    """The subject of an appeal, as `verdict:<id>` or `item:<lineage>`, and its reason."""

    target = forms.ChoiceField(widget=forms.RadioSelect, label="Subject of the appeal")
    words = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 7}),
        min_length=APPEAL_AT_LEAST,
        max_length=APPEAL_AT_MOST,
        label="Reason",
        help_text="Point to the part of your text that supports it. Formulas as in your solution.",
    )

    def __init__(self, targets: list[tuple[str, str]], *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        field = self.fields["target"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = targets


class AnswerForm(forms.Form):
    """The answer to an appeal, which its author reads."""

    answer = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 5}),
        min_length=APPEAL_AT_LEAST,
        max_length=APPEAL_AT_MOST,
        label="Answer",
        help_text="The student reads it. Write about the text and the scheme, not about other students or markers.",
    )


class RequestForm(forms.Form):
    """A request for feedback on a version."""

    track = forms.ChoiceField(
        choices=[(Track.REPAIR.value, "Something in it may be wrong"), (Track.STUCK.value, "I am stuck")],
        widget=forms.RadioSelect,
        label="Kind of help",
        initial=Track.REPAIR.value,
    )
    words = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3}), max_length=WORDS_LENGTH, required=False, label="Your question",
        help_text="Optional: what you are unsure about.",
    )  # fmt: skip


class AskForm(forms.Form):
    """A request for the next hint: a sentence on what was tried, unless a newer version was handed in."""

    tried = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3}), max_length=WORDS_LENGTH, required=False, label="What did you try?",
        help_text="One sentence is enough.",
    )  # fmt: skip
    argues = forms.BooleanField(required=False, label="I think that my step is right, for this reason")


class HintForm(forms.Form):
    """A hint, as a coach writes it."""

    text = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 6}), max_length=HINT_AT_MOST, label="Hint",
        help_text="About the step, not the person. Formulas as in solutions.",
    )  # fmt: skip
    confirms = forms.BooleanField(required=False, label="Give the hint anyway")
    proposal = forms.UUIDField(required=False, widget=forms.HiddenInput)


class RulesForm(forms.Form):
    """How far the hints of a problem go, and the models that propose and test them. `models`: titles by name."""

    is_on = forms.BooleanField(required=False, label="Students may ask for hints")
    highest = forms.IntegerField(min_value=0, max_value=TOP, label="Highest hint")
    budget = forms.IntegerField(min_value=1, max_value=50, label="Maximum hints per student")
    first_wait = forms.IntegerField(min_value=0, max_value=1440, label="Waiting time after the first hint (minutes)")
    later_wait = forms.IntegerField(min_value=0, max_value=1440, label="Waiting time after later hints (minutes)")
    writer = forms.ChoiceField(required=False, label="Model that proposes hints")
    guesser = forms.ChoiceField(required=False, label="Model that tests hints for leaks")

    def __init__(self, *args: Any, models: Mapping[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        for name, none in (("writer", "None: coaches write them"), ("guesser", "None: only words are compared")):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [("", none), *models.items()]
