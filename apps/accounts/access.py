"""Who asks, and who may get what: a token its owner, nobody else; a group of students as below.

| | maker | other coaches | other researchers | staff who are either |
|---|---|---|---|---|
| a group and who is in it | yes | yes | no | yes |
| changing, deleting it | yes | no | no | yes |

Students meet no groups: whoever may not see one gets `Http404`.
"""

import uuid

from django.db.models import QuerySet
from django.http import Http404, HttpRequest

from apps.accounts.models import ApiToken, Role, StudentGroup, User


def user_of(request: HttpRequest) -> User:
    """The signed-in person; the login middleware has turned all others away."""
    if not isinstance(request.user, User):
        raise Http404
    return request.user


def token_get_for(user: User, public_id: uuid.UUID | str) -> ApiToken:
    """The token, or `Http404` where it does not exist or belongs to somebody else."""
    token = user.api_tokens.filter(public_id=public_id).first()
    if token is None:
        raise Http404("There is no such token.")
    return token


def group_keeper_of(request: HttpRequest) -> User:
    """The signed-in person, or `Http404` where they may not make groups."""
    user = user_of(request)
    if not user.may_see_runs:
        raise Http404("There is no such page.")
    return user


def group_visible_to(user: User) -> QuerySet[StudentGroup]:
    """The groups that a person may read."""
    if not user.may_see_runs:
        return StudentGroup.objects.none()
    groups = StudentGroup.objects.select_related("made_by")
    return groups if user.role == Role.COACH or user.is_staff else groups.filter(made_by=user)


def group_get_for(user: User, public_id: uuid.UUID | str) -> StudentGroup:
    """The group, or `Http404`."""
    group = group_visible_to(user).filter(public_id=public_id).first()
    if group is None:
        raise Http404("There is no such group.")
    return group


def group_may_change(user: User, group: StudentGroup) -> bool:
    """Who made a group keeps it; staff stand in."""
    return user.may_see_runs and (group.made_by_id == user.pk or user.is_staff)


def group_kept_for(user: User, public_id: uuid.UUID | str) -> StudentGroup:
    """The group for somebody who may change it, or `Http404`."""
    group = group_get_for(user, public_id)
    if not group_may_change(user, group):
        raise Http404("There is no such group.")
    return group
