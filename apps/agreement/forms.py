"""The forms of the agreement pages: file upload, and the meaning of its columns."""

from typing import Any

from django import forms

from apps.agreement.sources.columns import SPLIT_BY_AUTHOR, factor_of
from apps.agreement.sources.files import FileColumns
from apps.files.upload_fields import TableField

NONE = [("", "none")]
WORDS_LENGTH = 500


class FileForm(forms.Form):
    """A file of points."""

    file = TableField(
        help_text="CSV, JSONL or JSON in UTF-8, at most 16 MB, one paper per row.",
        accept=".csv,.tsv,.json,.jsonl,.ndjson",
        advice="Split it, or remove columns that are not needed.",
    )


class ColumnsForm(forms.Form):
    """Meaning of the columns of a file; the fields are those of `manage.py agreement`."""

    rows = forms.CharField(required=False, widget=forms.HiddenInput)
    human = forms.ChoiceField(label="A person’s points")
    predicted = forms.MultipleChoiceField(
        label="Graders’ points", widget=forms.CheckboxSelectMultiple, help_text="One or more; each becomes a column."
    )
    runs = forms.BooleanField(required=False, label="These columns are repeated runs of one grader")
    second = forms.ChoiceField(required=False, label="A second person’s points", help_text="Baseline for the graders.")
    problem = forms.ChoiceField(required=False, label="Problem", help_text="Unit of resampling for intervals.")
    paper = forms.ChoiceField(required=False, label="Name of the paper")
    author = forms.ChoiceField(
        required=False, label="Author", help_text="Student or model; each gets separate tables and is never pooled."
    )
    contaminated = forms.ChoiceField(
        required=False, label="Not independent", help_text="“Yes”, or the reason to exclude the person’s mark."
    )
    groups = forms.MultipleChoiceField(
        required=False, label="Split by", widget=forms.CheckboxSelectMultiple, help_text="Topic, level, marker …"
    )
    labels = forms.CharField(
        required=False,
        max_length=WORDS_LENGTH,
        label="Words for points",
        help_text="For example incorrect=0, correct=7.",
    )
    times = forms.FloatField(
        initial=1, label="Factor for graders’ points", help_text="For example 7 if they range from 0 to 1."
    )
    scale = forms.CharField(initial="0:7", max_length=20, label="Scale", help_text="Lowest and highest points.")
    points = forms.ChoiceField(
        label="Categories",
        choices=[("fitting", "half points if a mark has one"), ("whole", "whole points"), ("half", "half points")],
        help_text="Categories for QWK and AC2.",
    )

    def __init__(self, data: Any, *, columns: FileColumns, asked: dict[str, Any]) -> None:
        super().__init__(data, initial={"times": 1, "scale": "0:7", "points": "fitting"} | columns.proposed | asked)
        names = [(name, name) for name in columns.names]
        for name in ("human", "predicted", "groups"):
            self._offer(name, names)
        for name in ("second", "problem", "paper", "author", "contaminated"):
            self._offer(name, NONE + names)

    def clean_times(self) -> float:
        """Require a number above 0."""
        try:
            return factor_of(self.cleaned_data["times"])
        except ValueError as error:
            raise forms.ValidationError(f"{str(error).capitalize()}.") from error

    def clean(self) -> dict[str, Any]:
        """Reject a split by the author column, which already has separate tables."""
        data = super().clean() or {}
        if data.get("author") and data["author"] in data.get("groups", ()):
            self.add_error("groups", SPLIT_BY_AUTHOR.format(data["author"]))
        return data

    def asked(self) -> dict[str, Any]:
        """The values of a valid form, as stored."""
        return dict(self.cleaned_data)

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        if isinstance(field, forms.ChoiceField):
            field.choices = choices
