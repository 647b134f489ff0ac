"""Queries for users, groups and tokens."""

from collections.abc import Collection

from django.db.models import Count, QuerySet
from django.db.models.functions import Lower

from apps.accounts.access import group_visible_to
from apps.accounts.models import ApiToken, GroupMember, Role, StudentGroup, User

ROLES_EXPLAINED = {
    Role.COACH: "sees problems, runs and models, and may start explorations",
    Role.RESEARCHER: "starts, steers and compares runs",
    Role.STUDENT: "reads problems",
}


def token_list(user: User) -> QuerySet[ApiToken]:
    """The tokens of `user`, newest first."""
    return user.api_tokens.all()


def token_find(text: str) -> ApiToken | None:
    """The token with this text, or None if it does not exist or its owner is inactive."""
    return ApiToken.objects.select_related("user").filter(digest=ApiToken.digest_of(text), user__is_active=True).first()


def role_explained(user: User) -> str:
    """Short description of the user's role."""
    return ROLES_EXPLAINED[Role(user.role)]


def group_list(user: User) -> QuerySet[StudentGroup]:
    """The groups that a user may read, by name; `size` is the number of members."""
    return group_visible_to(user).annotate(size=Count("members")).order_by("name", "pk")


def member_list(group: StudentGroup) -> QuerySet[GroupMember]:
    """Members of a group, by user name."""
    return group.members.select_related("person")


def people_named(names: Collection[str]) -> dict[str, User]:
    """Active accounts by user name, else by unique e-mail address. Unknown and ambiguous names are left out."""
    found = {user.username: user for user in User.objects.filter(username__in=names, is_active=True)}
    addresses = {name.lower() for name in names if name not in found and "@" in name}
    owners: dict[str, list[User]] = {}
    for user in User.objects.alias(address=Lower("email")).filter(address__in=addresses, is_active=True) if addresses else ():
        owners.setdefault(user.email.lower(), []).append(user)
    single = {address: users[0] for address, users in owners.items() if len(users) == 1}
    return found | {name: single[name.lower()] for name in names if name not in found and name.lower() in single}
