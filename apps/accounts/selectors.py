"""Reads over people and their tokens."""

from django.db.models import QuerySet

from apps.accounts.models import ApiToken, Role, User

ROLES_EXPLAINED = {
    Role.COACH: "sees problems, runs and models, and may start explorations",
    Role.RESEARCHER: "starts, steers and compares runs",
    Role.STUDENT: "reads problems",
}


def token_list(user: User) -> QuerySet[ApiToken]:
    """The tokens of `user`, newest first."""
    return user.api_tokens.all()


def token_find(text: str) -> ApiToken | None:
    """The token with this text, where it exists and its owner is active."""
    return ApiToken.objects.select_related("user").filter(digest=ApiToken.digest_of(text), user__is_active=True).first()


def role_explained(user: User) -> str:
    """What a person of this role does here, in a few words."""
    return ROLES_EXPLAINED[Role(user.role)]
