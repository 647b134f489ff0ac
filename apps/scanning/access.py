"""Who may handle scans: organisers who may read the roster, because pages are sorted by names. Others get `Http404`.

An organiser who sorts pages sees whose hand a page is in; the record of the contest names who did.
"""

import uuid

from django.http import Http404

from apps.accounts.models import User
from apps.contests.access import rostered_get_for
from apps.contests.models import Contest, ContestKind
from apps.scanning.models import ScanFile, ScannedPage


def scans_contest_for(user: User, public_id: uuid.UUID) -> Contest:
    """The contest or sheet whose scans this organiser handles, or `Http404`."""
    contest = rostered_get_for(user, public_id)
    if contest.kind == ContestKind.PRACTICE:
        raise Http404("There is no such contest.")
    return contest


def file_get_for(user: User, public_id: uuid.UUID) -> ScanFile:
    """An uploaded file, or `Http404`."""
    found = ScanFile.objects.select_related("contest").filter(public_id=public_id).first()
    if found is None:
        raise Http404("There is no such file.")
    scans_contest_for(user, found.contest.public_id)
    return found


def page_get_for(user: User, public_id: uuid.UUID) -> ScannedPage:
    """A scanned page, or `Http404`."""
    rows = ScannedPage.objects.select_related("file__contest", "paper", "problem")
    found = rows.filter(public_id=public_id).first()
    if found is None:
        raise Http404("There is no such page.")
    scans_contest_for(user, found.file.contest.public_id)
    return found
