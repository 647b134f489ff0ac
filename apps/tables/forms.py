"""Upload of a table."""

from typing import Any

from django import forms

from apps.contests.models import TITLE_LENGTH
from apps.files.grids import Grid, grid_read
from apps.files.tables import FileWrong
from apps.files.upload_fields import TableField


class UploadForm(forms.Form):
    """A table. After `is_valid`, `grid` is what was read of `content`."""

    file = TableField(label="Table", help_text="CSV, TSV or XLSX with a header, up to 16 MB", accept=".csv,.tsv,.txt,.xlsx")
    content: bytes
    grid: Grid

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if upload := cleaned.get("file"):
            self.content = upload.read()
            try:
                self.grid = grid_read(self.content)
            except FileWrong as error:
                self.add_error("file", str(error))
        return cleaned


class NewContestForm(UploadForm):
    """A table from which a new contest is made."""

    title = forms.CharField(max_length=TITLE_LENGTH, label="Title of the contest", help_text="For example: Selection test 2")
    field_order = ["title", "file"]
