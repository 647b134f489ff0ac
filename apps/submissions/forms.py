"""The author's editor and the upload of many submissions at once."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from apps.problems.forms import TextField
from apps.submissions.importing.files import FILE_BYTES
from apps.submissions.models import TEXT_LENGTH, TextFormat


class TextForm(forms.Form):
    """What an author writes, and the state of the draft that they began from."""

    text = TextField(rows=22, max_length=TEXT_LENGTH, required=False, label="Your solution", strip=False)
    text_format = forms.ChoiceField(choices=TextFormat.choices, label="Written as")
    based_on = forms.IntegerField(min_value=0, widget=forms.HiddenInput)


class ImportForm(forms.Form):
    """A file with many submissions."""

    file = forms.FileField(label="File", help_text="CSV, JSONL, or a ZIP of Markdown files.")
    adds_problems = forms.BooleanField(
        required=False,
        label="Add problems that the contest lacks",
        help_text="From the library, by their id. Before the contest is opened only.",
    )

    def clean_file(self) -> "UploadedFile[Any]":
        upload: UploadedFile[Any] = self.cleaned_data["file"]
        if (upload.size or 0) > FILE_BYTES:
            raise forms.ValidationError(f"The file is larger than {FILE_BYTES // 1024**2} MB. Split it.")
        return upload
