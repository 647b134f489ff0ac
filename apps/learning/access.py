"""Access to the learning pages: researchers only."""

import uuid

from django.http import Http404

from apps.accounts.models import User
from apps.datasets.access import researcher_required
from apps.learning.models import TrainingJob


def job_get_for(user: User, public_id: uuid.UUID) -> TrainingJob:
    """Get a job. Raises `Http404` where there is none or `user` is not a researcher."""
    researcher_required(user)
    found = TrainingJob.objects.select_related("owner", "dataset", "sweep").filter(public_id=public_id).first()
    if found is None:
        raise Http404("There is no such job.")
    return found
