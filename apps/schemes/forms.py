"""Forms of marking schemes: editor and import."""

from typing import Any

from django import forms

from apps.problems.forms import TextField
from apps.reasoning.marking.schemes.faults import Fault, FormWrong
from apps.reasoning.marking.schemes.scheme import Scheme, line_clean
from apps.reasoning.marking.schemes.text_form import SIZE_AT_MOST, text_read
from apps.schemes.models import REASON_LENGTH, TITLE_LENGTH


class SchemeForm(forms.Form):
    """Title, text and change of a scheme. `faults`: unreadable lines. A scheme with errors can be saved as a draft."""

    title = forms.CharField(max_length=TITLE_LENGTH, help_text="For example: Scheme of the selection test")
    text = TextField(rows=28, max_length=SIZE_AT_MOST, label="Marking scheme")
    is_wording_only = forms.BooleanField(
        required=False,
        label="Wording only",
        help_text="For changes that cannot affect marks. Marks of the previous version stay comparable.",
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
            raise forms.ValidationError("Could not read some lines. They are listed next to this text.") from wrong
        return text

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("is_wording_only") and not cleaned.get("reason"):
            self.add_error("reason", "Describe the change of wording for later readers.")
        return cleaned

    def refuse_wording_only(self) -> None:
        """Add an error to the switch: more than the wording changed."""
        self.add_error("is_wording_only", "More than the wording changed: points, kinds, chains or relations of items differ.")


class ImportForm(forms.Form):
    """A pasted scheme to open in the editor."""

    source = TextField(
        rows=12,
        max_length=SIZE_AT_MOST,
        label="Existing scheme",
        help_text="Paste a list of grading points, guidelines with (Partial) and (Almost), or a scheme in text or JSON form.",
    )
