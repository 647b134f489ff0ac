"""Forms of the author's editor and of imports."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from apps.files.archives import FILE_BYTES
from apps.problems.forms import TextField
from apps.submissions.models import TEXT_LENGTH, TextFormat


class TextForm(forms.Form):
    """The text of an author and the draft revision on which it is based."""

    text = TextField(rows=22, max_length=TEXT_LENGTH, required=False, label="Your solution", strip=False)
    text_format = forms.ChoiceField(choices=TextFormat.choices, label="Text format")
    based_on = forms.IntegerField(min_value=0, widget=forms.HiddenInput)


class ImportForm(forms.Form):
    """Upload of a file with many submissions."""

    file = forms.FileField(label="File", help_text="CSV, JSONL, or a ZIP archive of Markdown, LaTeX or text files")
    adds_problems = forms.BooleanField(
        required=False,
        label="Add missing problems to the contest",
        help_text="Finds them in the library by id. Only possible before the contest is opened.",
    )

    def clean_file(self) -> "UploadedFile[Any]":
        upload: UploadedFile[Any] = self.cleaned_data["file"]
        if (upload.size or 0) > FILE_BYTES:
            raise forms.ValidationError(f"The file is larger than {FILE_BYTES // 1024**2} MB. Split it into smaller files.")
        return upload
