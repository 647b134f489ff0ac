"""The source of a comparison by kind and id, for those who may see it."""

import uuid
from collections.abc import Callable

from django.http import Http404

from apps.accounts.models import User
from apps.agreement.sources.contests import contest_source_for
from apps.agreement.sources.files import file_source_for
from apps.agreement.sources.sets import set_source_for
from apps.agreement.sources.sources import NO_SOURCE, Source

MAKERS: dict[str, Callable[[User, uuid.UUID], Source]] = {
    "contest": contest_source_for,
    "file": file_source_for,
    "set": set_source_for,
}


def source_get_for(user: User, kind: str, public_id: uuid.UUID) -> Source:
    """The source, for a user who may see it. Raises `Http404`."""
    if kind not in MAKERS or not user.may_see_runs:
        raise Http404(NO_SOURCE)
    return MAKERS[kind](user, public_id)
