"""The form of a scheme: a title, the scheme as text, and what kind of change it is."""

from typing import Any

from django import forms

from apps.problems.forms import TextField
from apps.reasoning.marking.faults import Fault, FormWrong
from apps.reasoning.marking.scheme import Scheme, line_clean
from apps.reasoning.marking.text_form import SIZE_AT_MOST, text_read
from apps.schemes.models import REASON_LENGTH, TITLE_LENGTH


class SchemeForm(forms.Form):
    """A scheme as a coach writes it. `faults`: the lines that are not understood. One with errors can still be a draft."""

    title = forms.CharField(max_length=TITLE_LENGTH, help_text="Such as: Scheme of the selection test.")
    text = TextField(rows=28, max_length=SIZE_AT_MOST, label="Marking scheme")
    is_wording_only = forms.BooleanField(
        required=False,
        label="Only words changed",
        help_text="No mark would be different. Marks made with the version before stay comparable.",
    )
    reason = forms.CharField(max_length=REASON_LENGTH, required=False, label="Reason for the change")

    faults: tuple[Fault, ...] = ()
    content: Scheme | None = None

    def clean_title(self) -> str:
        return line_clean(self.cleaned_data["title"])

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        try:
            self.content = text_read(text)
        except FormWrong as wrong:
            self.faults = wrong.faults
            raise forms.ValidationError("Some lines are not understood; they are named beside this text.") from wrong
        return text

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("is_wording_only") and not cleaned.get("reason"):
            self.add_error("reason", "Say what was reworded, for those who meet the change later.")
        return cleaned

    def refuse_wording_only(self) -> None:
        """Mark the switch: more than words changed."""
        self.add_error("is_wording_only", "More than words changed: points, kinds, chains or relations of items are different.")


class ImportForm(forms.Form):
    """What a coach already has, to be read into the editor."""

    source = TextField(
        rows=12,
        max_length=SIZE_AT_MOST,
        label="Paste what you have",
        help_text="A list of grading points, guidelines with (Partial) and (Almost), or a scheme in our text or JSON form.",
    )
