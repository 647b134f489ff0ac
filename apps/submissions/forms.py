"""Forms of the author's editor and of imports."""

from django import forms

from apps.files.upload_fields import TableField
from apps.problems.forms import TextField
from apps.submissions.models import TEXT_LENGTH, TextFormat


class TextForm(forms.Form):
    """The text of an author and the draft revision on which it is based."""

    text = TextField(rows=22, max_length=TEXT_LENGTH, required=False, label="Your solution", strip=False)
    text_format = forms.ChoiceField(choices=TextFormat.choices, label="Text format")
    based_on = forms.IntegerField(min_value=0, widget=forms.HiddenInput)


class ImportForm(forms.Form):
    """Upload of a file with many submissions."""

    file = TableField(label="File", help_text="CSV, JSONL, or a ZIP archive of Markdown, LaTeX or text files")
    adds_problems = forms.BooleanField(
        required=False,
        label="Add missing problems to the contest",
        help_text="Finds them in the library by id. Only possible before the contest is opened.",
    )
