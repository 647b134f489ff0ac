"""Forms of accounts and of groups of students."""

import math
from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm

from apps.accounts.hashing import HashingBusy, hashing_place
from apps.accounts.models import GROUP_NAME_LENGTH, SCHOOL_LENGTH, User
from apps.accounts.origin import address_of
from apps.accounts.selectors import people_named
from apps.accounts.services import MEMBERS_AT_MOST
from apps.accounts.throttle import (
    Refused,
    attempt_give_back,
    attempt_take,
    attempts_forget,
    change_forget,
    change_give_back,
    change_take,
)
from apps.ui.words import duration


class LimitedForm(forms.Form):
    """A form that checks a password. If it did not, `status` has the reason and `retry_after_s` the time to wait."""

    status = 200
    retry_after_s: int | None = None

    def unchecked(self, status: int, wait_s: float, words: str) -> forms.ValidationError:
        """The error to raise if the password is not checked."""
        self.status, self.retry_after_s = status, math.ceil(wait_s)
        return forms.ValidationError(words, code="unchecked")


class SignInForm(LimitedForm, AuthenticationForm):
    """Sign-in form with limits on failed attempts."""

    def clean(self) -> dict[str, Any]:
        name = self.cleaned_data.get("username", "")
        address = address_of(self.request) if self.request else ""
        if refused := attempt_take(name, address):
            raise self.unchecked(429, refused.wait_s, refusal_words(refused))
        try:
            with hashing_place():
                cleaned = super().clean()
        except HashingBusy as busy:
            attempt_give_back(name, address)
            raise self.unchecked(503, busy.retry_after_s, f"{busy.headline} {busy.explanation} {busy.advice}") from busy
        if self.user_cache is not None:
            attempts_forget(name, address)
        return cleaned


class PasswordForm(LimitedForm, PasswordChangeForm):
    """Form to change one's own password, with a limit on wrong old passwords."""

    def clean_old_password(self) -> str:
        if refused := change_take(self.user.pk):
            words = f"Too many wrong passwords. Nothing was changed. Try again in {duration(refused.wait_s)}."
            raise self.unchecked(429, refused.wait_s, words)
        try:
            old: str = super().clean_old_password()
        except HashingBusy:
            change_give_back(self.user.pk)
            raise
        change_forget(self.user.pk)
        return old


def refusal_words(refused: Refused) -> str:
    """Error text for a refused sign-in: the limit, and when to try again."""
    again = f"Your password was not checked. Try again in {duration(refused.wait_s)}."
    if refused.limit == "name":
        return f"Too many failed sign-ins with this user name. {again}"
    return (
        f"Too many failed sign-ins from your network address, which other people on your network may share. {again} "
        "The people who run this site can raise the limit."
    )


class TokenForm(forms.Form):
    """Form for the name of a new token, and whether programs may write with it."""

    name = forms.CharField(max_length=80, label="Name of a new token")
    may_write = forms.BooleanField(required=False, label="May write")


class GroupForm(forms.Form):
    """Form for the name of a group."""

    name = forms.CharField(max_length=GROUP_NAME_LENGTH, label="Name", help_text="For example: Winter camp")


class MembersForm(forms.Form):
    """Form for students: one user name or e-mail address per line, optionally a comma and a school."""

    members = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 6, "class": "mono", "spellcheck": "false"}),
        max_length=100_000,
        label="Students",
        help_text="One user name or e-mail address per line, optionally followed by a comma and a school",
    )

    def clean_members(self) -> list[tuple[User, str]]:
        lines = [line for line in self.cleaned_data["members"].splitlines() if line.strip()]
        if len(lines) > MEMBERS_AT_MOST:
            raise forms.ValidationError(f"You can add at most {MEMBERS_AT_MOST} students at once. No students were added.")
        pairs = [(name.strip(), school.strip()[:SCHOOL_LENGTH]) for name, _, school in (line.partition(",") for line in lines)]
        known = people_named([name for name, _ in pairs])
        if missing := [name for name, _ in pairs if name not in known]:
            raise forms.ValidationError(f"No account found for {', '.join(missing[:10])}. No students were added.")
        return [(known[name], school) for name, school in pairs]
