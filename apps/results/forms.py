"""Forms of results: what to release, an appeal and its answer, hints and their rules."""

from collections.abc import Mapping
from typing import Any

from django import forms

from apps.marks.models import ReleasePart
from apps.reasoning.feedback.ladder import TOP, WORDS_LENGTH, Track

APPEAL_AT_LEAST, APPEAL_AT_MOST = 20, 4_000
HINT_AT_MOST = 20_000

PART_HELP = {
    ReleasePart.COMMENTS: "Comments for students and the scheme’s remarks, beside their steps. Never those for markers.",
    ReleasePart.VERDICTS: "Errors at their steps, with what follows from which.",
    ReleasePart.POINTS: "The points, the items that were found and the line that leads from one to the other.",
    ReleasePart.SCHEME: "All items with their texts, also what is worth nothing and what limits the points. Never notes.",
    ReleasePart.SOLUTION: "The reference solutions of the library, for everybody in the contest.",
    ReleasePart.STATISTICS: "How many texts got which points, where there are at least five.",
}


class ReleaseForm(forms.Form):
    """The parts of a batch. `expected`: the token of what its reader saw."""

    parts = forms.MultipleChoiceField(choices=ReleasePart.choices, widget=forms.CheckboxSelectMultiple)
    leaves_out = forms.BooleanField(required=False)
    expected = forms.CharField(max_length=64, widget=forms.HiddenInput)


class AppealForm(forms.Form):
    """What an appeal is about, as `verdict:<id>` or `item:<lineage>`, and why."""

    target = forms.ChoiceField(widget=forms.RadioSelect, label="What it is about")
    words = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 7}),
        min_length=APPEAL_AT_LEAST,
        max_length=APPEAL_AT_MOST,
        label="Why",
        help_text="Say what in your text speaks for it. Formulas as in your solution.",
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
        help_text="The student reads it. It speaks of the text and the scheme, not of other students or markers.",
    )


class RequestForm(forms.Form):
    """Asking for feedback on a version."""

    track = forms.ChoiceField(
        choices=[(Track.REPAIR.value, "Something in it may be wrong"), (Track.STUCK.value, "I do not get further")],
        widget=forms.RadioSelect,
        label="What you need",
        initial=Track.REPAIR.value,
    )
    words = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3}), max_length=WORDS_LENGTH, required=False, label="Your question",
        help_text="What you are unsure about, if you can say it.",
    )  # fmt: skip


class AskForm(forms.Form):
    """Asking for the next hint: a sentence on what one tried, unless a newer version was handed in."""

    tried = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3}), max_length=WORDS_LENGTH, required=False, label="What did you try?",
        help_text="One sentence is enough.",
    )  # fmt: skip
    argues = forms.BooleanField(required=False, label="I think that my step is right; this says why")


class HintForm(forms.Form):
    """A rung as a coach writes it."""

    text = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 6}), max_length=HINT_AT_MOST, label="Hint",
        help_text="About the step, not the person. Formulas as in solutions.",
    )  # fmt: skip
    confirms = forms.BooleanField(required=False, label="Give it although it tells this")
    proposal = forms.UUIDField(required=False, widget=forms.HiddenInput)


class RulesForm(forms.Form):
    """How far the ladder of a problem goes, and which models propose and test hints. `models`: by name, their titles."""

    is_on = forms.BooleanField(required=False, label="Students may ask for hints")
    highest = forms.IntegerField(min_value=0, max_value=TOP, label="Highest hint")
    budget = forms.IntegerField(min_value=1, max_value=50, label="Hints a student, at most")
    first_wait = forms.IntegerField(min_value=0, max_value=1440, label="Minutes after the first")
    later_wait = forms.IntegerField(min_value=0, max_value=1440, label="Minutes after later ones")
    writer = forms.ChoiceField(required=False, label="A model proposes them")
    guesser = forms.ChoiceField(required=False, label="A model tests whether they tell too much")

    def __init__(self, *args: Any, models: Mapping[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        for name, none in (("writer", "none: coaches write them"), ("guesser", "none: words are compared only")):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [("", none), *models.items()]
