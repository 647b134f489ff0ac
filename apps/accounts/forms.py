"""Forms of accounts."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import NON_FIELD_ERRORS

from apps.accounts.origin import address_of
from apps.accounts.throttle import attempt_take, attempts_forget
from apps.ui.words import duration


class SignInForm(AuthenticationForm):
    """User name and password, with a limit on attempts."""

    def clean(self) -> dict[str, Any]:
        name = self.cleaned_data.get("username", "")
        address = address_of(self.request) if self.request else ""
        if wait := attempt_take(name, address):
            raise forms.ValidationError(f"Too many attempts for this name. Try again in {duration(wait)}.", code="throttled")
        cleaned = super().clean()
        if self.user_cache is not None:
            attempts_forget(name, address)
        return cleaned

    @property
    def is_throttled(self) -> bool:
        """Whether the attempt was refused without a look at the password."""
        return self.has_error(NON_FIELD_ERRORS, "throttled")


class TokenForm(forms.Form):
    """The name under which a token is listed."""

    name = forms.CharField(max_length=80, label="Name of a new token")
