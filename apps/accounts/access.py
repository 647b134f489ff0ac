"""Access rules: a token is visible to its owner only; groups of students as below.

| | creator | other coaches | other researchers | staff who are either |
|---|---|---|---|---|
| read a group and its members | yes | yes | no | yes |
| change or delete it | yes | no | no | yes |

Accounts of students are created by staff, and by coaches where the settings allow it; other accounts by `add_account`.

Students see no groups. A user who may not see a group gets `Http404`.
"""

import uuid
from collections.abc import Callable

from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404, HttpRequest

from apps.accounts.models import ApiToken, Role, StudentGroup, User


def user_of(request: HttpRequest) -> User:
    """The signed-in user; the login middleware rejects anonymous requests earlier."""
    if not isinstance(request.user, User):
        raise Http404
    return request.user


def user_allowed(request: HttpRequest, may: Callable[[User], bool]) -> User:
    """The signed-in user. Raises `Http404` for a user who may not."""
    user = user_of(request)
    if not may(user):
        raise Http404("There is no such page.")
    return user


def run_reader_of(request: HttpRequest) -> User:
    """The signed-in coach or researcher. Raises `Http404` for others."""
    return user_allowed(request, lambda user: user.may_see_runs)


def token_get_for(user: User, public_id: uuid.UUID | str) -> ApiToken:
    """The token, or `Http404` if it does not exist or belongs to another user."""
    token = user.api_tokens.filter(public_id=public_id).first()
    if token is None:
        raise Http404("This token does not exist.")
    return token


def accounts_may_create(user: User) -> bool:
    """Whether the user may create accounts of students: staff may, and coaches where `COACHES_CREATE_ACCOUNTS` is on."""
    return user.is_active and (user.is_staff or (settings.COACHES_CREATE_ACCOUNTS and user.role == Role.COACH))


def group_keeper_of(request: HttpRequest) -> User:
    """The signed-in user, or `Http404` if they may not create groups."""
    user = user_of(request)
    if not user.may_see_runs:
        raise Http404("This page does not exist.")
    return user


def group_visible_to(user: User) -> QuerySet[StudentGroup]:
    """The groups that a user may read."""
    if not user.may_see_runs:
        return StudentGroup.objects.none()
    groups = StudentGroup.objects.select_related("made_by")
    return groups if user.role == Role.COACH or user.is_staff else groups.filter(made_by=user)


def group_get_for(user: User, public_id: uuid.UUID | str) -> StudentGroup:
    """The group, or `Http404`."""
    group = group_visible_to(user).filter(public_id=public_id).first()
    if group is None:
        raise Http404("This group does not exist.")
    return group


def group_may_change(user: User, group: StudentGroup) -> bool:
    """Whether the user may change a group: its creator and staff may."""
    return user.may_see_runs and (group.made_by_id == user.pk or user.is_staff)


def group_kept_for(user: User, public_id: uuid.UUID | str) -> StudentGroup:
    """The group if the user may change it, or `Http404`."""
    group = group_get_for(user, public_id)
    if not group_may_change(user, group):
        raise Http404("This group does not exist.")
    return group
