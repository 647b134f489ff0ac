"""Access to the learning pages: researchers only."""

import uuid

from django.http import Http404

from apps.accounts.models import Role, User
from apps.learning.models import TrainingJob


def may_learn(user: User) -> bool:
    """Whether `user` is an active researcher."""
    return user.is_active and user.role == Role.RESEARCHER


def researcher_required(user: User) -> None:
    """Raise `Http404` for everyone but researchers: to others these pages do not exist."""
    if not may_learn(user):
        raise Http404


def job_get_for(user: User, public_id: uuid.UUID) -> TrainingJob:
    """Get a job. Raises `Http404` where there is none or `user` is not a researcher."""
    researcher_required(user)
    found = TrainingJob.objects.select_related("owner", "dataset").filter(public_id=public_id).first()
    if found is None:
        raise Http404("There is no such job.")
    return found
