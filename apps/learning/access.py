"""Who may see the pages of learning: researchers."""

from django.http import Http404

from apps.accounts.models import Role, User


def may_learn(user: User) -> bool:
    """An active researcher."""
    return user.is_active and user.role == Role.RESEARCHER


def researcher_required(user: User) -> None:
    """Raises `Http404` for everybody else: the pages do not exist for them."""
    if not may_learn(user):
        raise Http404
