"""Fix the cut-offs of a contest's awards. Until then no page, file or certificate has an award.

The choice is an event of the record, which cannot be changed. A later choice is a further event and needs a reason.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F

from apps.accounts.models import User
from apps.contests.models import Contest
from apps.marks.audit import audit
from apps.marks.models import AuditEvent
from apps.marks.office.awards import MEDALS, CutOffs, CutOffsRefused
from apps.marks.office.office import result_list
from apps.reasoning.marking.sheets.sheet import REASON_LENGTH

FIXED = "awards.fixed"


@dataclass(frozen=True)
class FixedCutOffs:
    """The cut-offs in force, and the event that fixed them. `digest`: the list of results for which they were chosen."""

    cutoffs: CutOffs
    event: AuditEvent
    digest: str


def cutoffs_history(contest: Contest) -> list[FixedCutOffs]:
    """All cut-offs that were fixed, the newest first. The first ones are in force."""
    rows = AuditEvent.objects.filter(contest=contest, verb=FIXED).select_related("actor").order_by("-at", "-pk")
    return [FixedCutOffs(_read(event), event, event.body["digest"]) for event in rows]


def cutoffs_fixed(contest: Contest) -> FixedCutOffs | None:
    """The cut-offs in force; None before an organiser fixed them."""
    return next(iter(cutoffs_history(contest)), None)


@transaction.atomic
def cutoffs_fix(
    *, contest: Contest, by: User, cutoffs: CutOffs, digest: str, based_on: int | None, reason: str = ""
) -> AuditEvent:
    """Fix the cut-offs for the list with this digest. `based_on`: key of the event in force when the page was opened.

    The same cut-offs can be confirmed for another list, without a reason. Raises `CutOffsRefused` if the list or the cut-offs
    changed meanwhile, the list is not signed off, nothing would change, or a change has no reason.
    """
    Contest.objects.filter(pk=contest.pk).update(row_version=F("row_version"))  # Locks the row: one choice at a time.
    found, fixed = result_list(contest), cutoffs_fixed(contest)
    if (fixed.event.pk if fixed else None) != based_on:
        raise CutOffsRefused("Nothing was fixed: another organiser fixed cut-offs meanwhile. Look at theirs first.")
    if found.digest != digest:
        raise CutOffsRefused("Nothing was fixed: the results changed since you looked. Check the new counts first.")
    if found.missing:
        have = "script has" if found.missing == 1 else "scripts have"
        raise CutOffsRefused(f"Nothing was fixed: {found.missing} {have} no grade yet. Awards need the totals of all papers.")
    if not found.is_signed:
        raise CutOffsRefused("Nothing was fixed: sign off the results first. Awards belong to a list that is signed off.")
    words = " ".join(reason.split())[:REASON_LENGTH]
    is_same = fixed is not None and fixed.cutoffs == cutoffs
    if is_same and fixed is not None and fixed.digest == digest:
        raise CutOffsRefused("Nothing was fixed: these cut-offs are in force for this list already.")
    if fixed is not None and not is_same and not words:
        raise CutOffsRefused("Nothing was fixed: cut-offs are in force already. Give the reason for the change.")
    body: dict[str, Any] = dict(cutoffs.body)
    return audit(FIXED, actor=by, contest=contest, digest=digest, reason=words, **body)


def _read(event: AuditEvent) -> CutOffs:
    totals = {medal: Decimal(event.body[medal]) for medal in MEDALS if medal in event.body}
    return CutOffs(**totals, has_mentions=event.body["mentions"])
