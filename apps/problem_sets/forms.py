"""Forms: import of a file, a set from the library, splits."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from apps.files.upload_fields import TableField
from apps.problem_sets.models import SPLIT_LENGTH, TITLE_LENGTH, ProblemSet
from apps.problems.importing.shapes import SHAPES

_SHARE = re.compile(r"\s*([A-Za-z][\w -]*?)\s+(\d{1,3})\s*%?\s*")


class SetImportForm(forms.Form):
    """A file of problems, as a new set or a new version of one."""

    file = TableField(label="File", help_text="CSV or JSONL in one of the formats below.", advice="Split it.")
    shape = forms.ChoiceField(
        label="Format", choices=[("auto", "Detect"), *((one.name, one.title) for one in SHAPES.values())], initial="auto"
    )
    into = forms.ModelChoiceField(
        ProblemSet.objects.all(), label="Set", required=False, empty_label="a new set", to_field_name="slug",
        help_text="An existing set gets a new version; earlier versions stay as they are.",
    )  # fmt: skip
    title = forms.CharField(label="Title", required=False, max_length=TITLE_LENGTH, help_text="Of a new set.")
    credit = forms.CharField(label="Credit", required=False, max_length=200, help_text="Author and source.")
    licence = forms.CharField(label="Licence", required=False, max_length=80)

    def clean(self) -> dict[str, Any]:
        found = super().clean() or self.cleaned_data
        if not found.get("into") and not found.get("title", "").strip():
            self.add_error("title", "Give the new set a title, or choose the set that gets a new version.")
        return found


class FromLibraryForm(forms.Form):
    """The title of a set of problems of the library."""

    title = forms.CharField(label="Title", max_length=TITLE_LENGTH)


class SplitForm(forms.Form):
    """Shares of splits, such as `train 80, test 20`."""

    shares = forms.CharField(
        label="Shares in percent", max_length=200, initial="train 80, test 20", help_text="They add up to 100."
    )
    seed = forms.IntegerField(label="Seed", min_value=0, max_value=2**31, initial=0)

    def clean_shares(self) -> dict[str, int]:
        """The shares by name of the split."""
        found: dict[str, int] = {}
        for part in self.cleaned_data["shares"].split(","):
            read = _SHARE.fullmatch(part)
            if read is None or len(read[1]) > SPLIT_LENGTH:
                raise ValidationError(f"“{part.strip()[:40]}” is not a name and a share. Write for example: train 80, test 20.")
            if read[1] in found:
                raise ValidationError(f"The split {read[1]} is named twice.")
            found[read[1]] = int(read[2])
        return found
