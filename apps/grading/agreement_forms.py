"""The forms of the agreement pages: a file, and which of its columns is what."""

from typing import TYPE_CHECKING, Any

from django import forms

from apps.grading.agreement_files import FileColumns
from apps.grading.columns import TWICE_PARTED, factor_of
from apps.problems.importing.files import FILE_BYTES

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile

NONE = [("", "none")]
WORDS_LENGTH = 500


class FileForm(forms.Form):
    """A file of points."""

    file = forms.FileField(
        help_text="CSV, JSONL or JSON in UTF-8, at most 16 MB, a paper a row.",
        widget=forms.FileInput(attrs={"accept": ".csv,.tsv,.json,.jsonl,.ndjson"}),
    )

    def clean_file(self) -> "UploadedFile[Any]":
        upload: UploadedFile[Any] = self.cleaned_data["file"]
        if (upload.size or 0) > FILE_BYTES:
            raise forms.ValidationError("The file is larger than 16 MB.")
        return upload


class ColumnsForm(forms.Form):
    """What the columns of a file hold; the fields are those of `manage.py agreement`."""

    rows = forms.CharField(required=False, widget=forms.HiddenInput)
    human = forms.ChoiceField(label="A person’s points")
    predicted = forms.MultipleChoiceField(
        label="Graders’ points", widget=forms.CheckboxSelectMultiple, help_text="Several stand side by side."
    )
    runs = forms.BooleanField(required=False, label="They are repeated runs of one grader")
    second = forms.ChoiceField(required=False, label="A second person’s points", help_text="The line to compare with.")
    problem = forms.ChoiceField(required=False, label="Problem", help_text="Intervals are drawn by problem.")
    paper = forms.ChoiceField(required=False, label="Name of the paper")
    author = forms.ChoiceField(
        required=False, label="Who wrote it", help_text="Student or model: each gets tables of its own, they are never pooled."
    )
    contaminated = forms.ChoiceField(
        required=False, label="Not independent", help_text="Yes, or in words why the person’s mark must not count."
    )
    groups = forms.MultipleChoiceField(
        required=False, label="Split by", widget=forms.CheckboxSelectMultiple, help_text="Topic, level, marker …"
    )
    labels = forms.CharField(
        required=False,
        max_length=WORDS_LENGTH,
        label="Words that stand for points",
        help_text="Such as incorrect=0, correct=7.",
    )
    times = forms.FloatField(initial=1, label="Graders’ points times", help_text="Such as 7 where they go from 0 to 1.")
    scale = forms.CharField(initial="0:7", max_length=20, label="Scale", help_text="Lowest and highest points.")
    points = forms.ChoiceField(
        label="Categories",
        choices=[("fitting", "half points where a mark is one"), ("whole", "whole points"), ("half", "half points")],
        help_text="Of QWK and AC2.",
    )

    def __init__(self, data: Any, *, columns: FileColumns, asked: dict[str, Any]) -> None:
        super().__init__(data, initial={"times": 1, "scale": "0:7", "points": "fitting"} | columns.proposed | asked)
        names = [(name, name) for name in columns.names]
        for name in ("human", "predicted", "groups"):
            self._offer(name, names)
        for name in ("second", "problem", "paper", "author", "contaminated"):
            self._offer(name, NONE + names)

    def clean_times(self) -> float:
        """A number above 0."""
        try:
            return factor_of(self.cleaned_data["times"])
        except ValueError as error:
            raise forms.ValidationError(f"{str(error).capitalize()}.") from error

    def clean(self) -> dict[str, Any]:
        """Students and models are parted already."""
        data = super().clean() or {}
        if data.get("author") and data["author"] in data.get("groups", ()):
            self.add_error("groups", TWICE_PARTED.format(data["author"]))
        return data

    def asked(self) -> dict[str, Any]:
        """What a valid form says, as it is kept."""
        return dict(self.cleaned_data)

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        if isinstance(field, forms.ChoiceField):
            field.choices = choices
