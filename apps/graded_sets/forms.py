"""The form for the import of a set."""

from decimal import Decimal

from django import forms

from apps.files.upload_fields import TableField
from apps.graded_sets.models import TITLE_LENGTH


class SetImportForm(forms.Form):
    """A file of graded scripts."""

    file = TableField(label="File", help_text="CSV, JSONL, JSON or ZIP in one of the layouts below.", advice="Split it.")
    out_of = forms.DecimalField(
        label="Out of", required=False, min_value=Decimal("0.01"), max_value=1_000, decimal_places=2,
        help_text="Maximum points, for rows without a column max. Leave empty for the layout’s default.",
    )  # fmt: skip
    title = forms.CharField(
        label="Title", required=False, max_length=TITLE_LENGTH, help_text="Leave empty to name it after its layout and file."
    )
    credit = forms.CharField(label="Credit", required=False, max_length=200, help_text="Needed if the layout has none.")
    licence = forms.CharField(label="Licence", required=False, max_length=80, help_text="Needed if the layout has none.")
