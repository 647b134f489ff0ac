"""Who may see and make datasets: researchers, as with the other pages of learning."""

from django.http import Http404

from apps.accounts.models import Role, User
from apps.datasets.models import DatasetVersion


def may_make_datasets(user: User) -> bool:
    """An active researcher."""
    return user.is_active and user.role == Role.RESEARCHER


def researcher_required(user: User) -> None:
    """Raises `Http404` for everybody else: the pages do not exist for them."""
    if not may_make_datasets(user):
        raise Http404


def dataset_get_for(user: User, name: str, version: int) -> DatasetVersion:
    """The version. Raises `Http404` where there is none or `user` may not see it."""
    researcher_required(user)
    found = DatasetVersion.objects.filter(name=name, version=version).first()
    if found is None:
        raise Http404
    return found
