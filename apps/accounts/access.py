"""Who may get a token: its owner, nobody else."""

import uuid

from django.http import Http404

from apps.accounts.models import ApiToken, User


def token_get_for(user: User, public_id: uuid.UUID | str) -> ApiToken:
    """The token, or `Http404` where it does not exist or belongs to somebody else."""
    token = user.api_tokens.filter(public_id=public_id).first()
    if token is None:
        raise Http404("There is no such token.")
    return token
