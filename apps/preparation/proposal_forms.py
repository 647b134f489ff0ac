"""Forms for schemes written by a model: start the writer, edit the text, try it out, approve it."""

from typing import Any

from django import forms

from apps.preparation.forms import AliasForm
from apps.reasoning.graders.material import SCRIPT_LENGTH
from apps.schemes.models import TITLE_LENGTH

SCHEME_LENGTH = 100_000


class WriterForm(AliasForm):
    """The model that writes a scheme."""


class ProposalForm(AliasForm):
    """The text and title of a proposed scheme, and texts to try it on."""

    title = forms.CharField(label="Title of the scheme", max_length=TITLE_LENGTH, required=False, initial="Written by a model")
    text = forms.CharField(
        label="The scheme",
        max_length=SCHEME_LENGTH,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 22, "spellcheck": "false", "class": "mono"}),
        help_text="One item per line. Your changes are checked in the preview.",
    )
    pasted = forms.CharField(
        label="Partial solutions for a try-out",
        required=False,
        max_length=SCRIPT_LENGTH,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        help_text="One or more, separated by lines of ---.",
    )
    scripts = forms.MultipleChoiceField(label="Scripts of imported sets", required=False, widget=forms.CheckboxSelectMultiple)

    def __init__(self, *args: Any, offered: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["scripts"]
        if isinstance(field, forms.MultipleChoiceField):
            field.choices = offered
        self.fields["alias"].help_text = "Ticks the scheme items in a try-out."
