"""Who asks, and who may get a token: its owner, nobody else."""

import uuid

from django.http import Http404, HttpRequest

from apps.accounts.models import ApiToken, User


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
