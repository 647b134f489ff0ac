"""Forms of accounts and of groups of students."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import NON_FIELD_ERRORS

from apps.accounts.models import GROUP_NAME_LENGTH, SCHOOL_LENGTH, User
from apps.accounts.origin import address_of
from apps.accounts.selectors import people_named
from apps.accounts.services import MEMBERS_AT_MOST
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


class GroupForm(forms.Form):
    """The name of a group."""

    name = forms.CharField(max_length=GROUP_NAME_LENGTH, label="Name", help_text="Such as: Winter camp.")


class MembersForm(forms.Form):
    """Students by user name or e-mail address, one a line, a school after a comma."""

    members = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 6, "class": "mono", "spellcheck": "false"}),
        max_length=100_000,
        label="Students",
        help_text="One user name or e-mail address a line; a school may follow after a comma.",
    )

    def clean_members(self) -> list[tuple[User, str]]:
        lines = [line for line in self.cleaned_data["members"].splitlines() if line.strip()]
        if len(lines) > MEMBERS_AT_MOST:
            raise forms.ValidationError(f"At most {MEMBERS_AT_MOST} at once.")
        pairs = [(name.strip(), school.strip()[:SCHOOL_LENGTH]) for name, _, school in (line.partition(",") for line in lines)]
        known = people_named([name for name, _ in pairs])
        if missing := [name for name, _ in pairs if name not in known]:
            raise forms.ValidationError(f"There is no account {', '.join(missing[:10])}. Nobody was added.")
        return [(known[name], school) for name, school in pairs]
