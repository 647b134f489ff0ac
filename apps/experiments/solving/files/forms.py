"""The form that imports an Inspect log."""

from django import forms

from apps.experiments.solving.manifest import NAME_LENGTH
from apps.files.upload_fields import TableField


class LogForm(forms.Form):
    """A log, the name of its method, and the value of a full score in it."""

    file = TableField(
        label="Log",
        accept=".eval",
        help_text="An .eval file of Inspect. Samples belong to the problem of their statement or id.",
        advice="Staff import larger ones with manage.py experiment import.",
    )
    method = forms.CharField(label="Method", max_length=NAME_LENGTH, help_text="The name of its row in the tables.")
    full = forms.FloatField(label="Full score", initial=1, min_value=0, help_text="1 for right or wrong; 7 for points of 7.")
