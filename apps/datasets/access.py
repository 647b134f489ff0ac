"""Access to datasets: researchers only, like the other learning pages."""

from django.http import Http404

from apps.accounts.models import Role, User
from apps.datasets.models import DatasetVersion


def may_make_datasets(user: User) -> bool:
    """Whether `user` is an active researcher."""
    return user.is_active and user.role == Role.RESEARCHER


def researcher_required(user: User) -> None:
    """Raise `Http404` for everyone but researchers: to others these pages do not exist."""
    if not may_make_datasets(user):
        raise Http404


def dataset_get_for(user: User, name: str, version: int) -> DatasetVersion:
    """Get a version. Raises `Http404` where there is none or `user` may not see it."""
    researcher_required(user)
    found = DatasetVersion.objects.filter(name=name, version=version).first()
    if found is None:
        raise Http404
    return found
