"""Forms of accounts."""

from django import forms


class TokenForm(forms.Form):
    """The name under which a token is listed."""

    name = forms.CharField(max_length=80, label="Name of a new token")
