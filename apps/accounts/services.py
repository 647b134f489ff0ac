"""Changes to accounts, sample accounts of the embedded mode, groups and tokens."""

import secrets
from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import ApiToken, GroupMember, Role, StudentGroup, User

TOKENS_AT_MOST = 20
MEMBERS_AT_MOST = 500
USE_NOTED_EVERY = timedelta(minutes=1)
# Printed by `manage.py up`. They exist in the embedded mode only, never on a served installation.
STAFF_ACCOUNT = "admin"  # Sees Operations too.
SAMPLE_ACCOUNTS = (
    ("researcher", "induct-on-everything", Role.RESEARCHER),
    ("coach", "check-the-small-cases", Role.COACH),
    ("coach-2", "count-it-in-two-ways", Role.COACH),
    ("coach-3", "draw-a-large-figure", Role.COACH),
    ("student", "without-loss-of-generality", Role.STUDENT),
    (STAFF_ACCOUNT, "look-at-the-extreme-case", Role.RESEARCHER),
)
SAMPLE_COACHES = ("coach", "coach-2", "coach-3")
SAMPLE_STUDENT = "student"


class SampleAccountsRefused(Exception):
    """Sample accounts have known passwords, so they are created in the embedded mode only."""


class AccountRefused(Exception):
    """The account cannot be created; the message has the reason."""


class GroupRefused(Exception):
    """The group cannot be changed in this way; the message has the reason."""


class TooManyTokens(Exception):
    """The user has reached the limit of tokens; the message has the limit."""


def sample_accounts_ensure() -> list[tuple[str, str, str]]:
    """Create missing sample accounts; return name, password and role of those with the original password.

    An account with a changed password is left alone and not listed.
    Raises `SampleAccountsRefused` outside the embedded mode.
    """
    if not settings.EMBEDDED:
        raise SampleAccountsRefused("Sample accounts have known passwords: they exist in the embedded mode only.")
    listed: list[tuple[str, str, str]] = []
    for name, password, role in SAMPLE_ACCOUNTS:
        user = User.objects.filter(username=name).first()
        if user is None:
            user = User.objects.create_user(name, password=password, role=role, is_staff=name == STAFF_ACCOUNT)
        if user.is_active and user.check_password(password):
            listed.append((name, password, f"{user.role}, staff" if user.is_staff else str(user.role)))
    return listed


def account_create(*, username: str, role: Role, is_staff: bool = False) -> tuple[User, str]:
    """Create an account; return it with its password. Raises `AccountRefused` for a taken or invalid name."""
    user = User(username=username, role=role, is_staff=is_staff)
    password = secrets.token_urlsafe(15)
    user.set_password(password)
    try:
        user.full_clean()
    except ValidationError as error:
        raise AccountRefused(" ".join(error.messages)) from error
    user.save()
    return user, password


def group_create(*, name: str, by: User) -> StudentGroup:
    """Create an empty group. Raises `GroupRefused` if its creator has a group of this name."""
    return _group_named(StudentGroup(made_by=by), name)


def group_rename(*, group: StudentGroup, name: str) -> StudentGroup:
    """Rename a group. Raises `GroupRefused` if its creator has a group of this name."""
    return _group_named(group, name)


def group_delete(*, group: StudentGroup) -> None:
    """Delete a group. Its students stay in their contests."""
    group.delete()


@transaction.atomic
def members_add(*, group: StudentGroup, members: Iterable[tuple[User, str]]) -> int:
    """Add students with their schools, all or none; return the number of new ones. Raises `GroupRefused` for other roles."""
    before = group.members.count()
    for person, school in members:
        if person.role != Role.STUDENT:
            raise GroupRefused(f"{person.username} is not a student.")
        given = {"school": school} if school else {}
        GroupMember.objects.update_or_create(group=group, person=person, defaults=given)
    now = group.members.count()
    if now > MEMBERS_AT_MOST:
        raise GroupRefused(f"A group can have at most {MEMBERS_AT_MOST} students.")
    return now - before


def member_remove(*, member: GroupMember) -> None:
    """Remove a student from a group. Their contests do not change."""
    member.delete()


def token_issue(*, user: User, name: str, may_write: bool = False) -> tuple[ApiToken, str]:
    """Issue a token; return it with its text, which is shown once. Raises `TooManyTokens`."""
    if user.api_tokens.count() >= TOKENS_AT_MOST:
        raise TooManyTokens(f"You have {TOKENS_AT_MOST} tokens, which is the limit. Revoke an unused one first.")
    return ApiToken.issue(user, name, may_write=may_write)


def token_revoke(*, token: ApiToken) -> None:
    """Revoke a token."""
    token.delete()


def token_note_use(*, token: ApiToken) -> None:
    """Record the use of a token; at most one write per minute."""
    now = timezone.now()
    stale = Q(last_used_at=None) | Q(last_used_at__lt=now - USE_NOTED_EVERY)
    if token.last_used_at is None or token.last_used_at < now - USE_NOTED_EVERY:
        ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=now)


def _group_named(group: StudentGroup, name: str) -> StudentGroup:
    group.name = " ".join(name.split())
    try:
        with transaction.atomic():
            group.save()
    except IntegrityError as error:
        raise GroupRefused(f"You already have a group “{group.name}”. Choose another name.") from error
    return group
