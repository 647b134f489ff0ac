"""Access beyond one's own mark, and its record: coordinations and the ledger of a case.

| page | party of the coordination | captain, organiser | other coaches |
|---|---|---|---|
| coordination | from its start; notes once all have claimed | yes | no |
| ledger of a case | no | yes | no |

Captains and organisers get `OwnMarksOpen` while one of their own marks on the problem can still change. They get `Http404` for
a script that they are marking, or that they marked and that is not settled.

Every view is recorded in the ledger. The reader is then no longer fresh, so the script is not given to them.
"""

import uuid

from django.http import Http404
from django.shortcuts import get_object_or_404

from apps.accounts.models import User
from apps.marks.access import captain_is, marker_row
from apps.marks.blindness import own_marks_require, problems_shut
from apps.marks.coordination.coordination import mark_own
from apps.marks.models import CaseState, Coordination, Mark, MarkingCase, MarkState, Reveal, RevealKind
from apps.marks.models.marking import MarkingTask

SETTLED = (CaseState.SETTLED, CaseState.RELEASED, CaseState.APPEALED)
NO_CASE = "No such script."


def mark_sealed_for(user: User, task: MarkingTask) -> Mark:
    """The user's own sealed mark of a task, or `Http404` while it is a draft."""
    rows = Mark.objects.select_related("marker", "scheme_version", "task__case__problem__contest", "task__case__problem__setup")
    mark = rows.filter(task=task, marker=user).exclude(state__in=(MarkState.DRAFT, MarkState.VOID)).first()
    if mark is None:
        raise Http404("Seal your mark first.")
    return mark


def coordination_get_for(user: User, public_id: uuid.UUID) -> Coordination:
    """A coordination for a party, the captain or an organiser, or `Http404`. Raises `OwnMarksOpen` for non-parties."""
    rows = Coordination.objects.select_related(
        "scheme_version", "case__problem__contest", "case__problem__problem", "case__problem__version",
        "case__version__submission__paper",
    )  # fmt: skip
    found = get_object_or_404(rows, public_id=public_id)
    if marker_row(user, found.case.problem) is None:
        raise Http404(NO_CASE)
    if mark_own(found, user) is None:
        _all_require(user, found.case)
    return found


def case_get_for(user: User, public_id: uuid.UUID) -> MarkingCase:
    """A case with everything said about it, for its captain or an organiser, or `Http404`. Raises `OwnMarksOpen`."""
    found = case_led_for(user, public_id)
    _all_require(user, found)
    return found


def case_led_for(user: User, public_id: uuid.UUID) -> MarkingCase:
    """A case for decisions by its captain or an organiser, or `Http404`; shows nothing that was said about it."""
    rows = MarkingCase.objects.select_related(
        "problem__contest", "problem__problem", "problem__captain", "problem__setup", "version__submission__paper"
    )
    found = get_object_or_404(rows, public_id=public_id)
    if not captain_is(user, found.problem) or _is_marking(user, found):
        raise Http404(NO_CASE)
    return found


def sees_all(user: User, case: MarkingCase) -> bool:
    """Whether the user leads the problem, is not marking it, and, if they marked this case, it is settled."""
    return _may_lead(user, case) and not problems_shut(user, [case.problem])


def _all_require(user: User, case: MarkingCase) -> None:
    if not _may_lead(user, case):
        raise Http404(NO_CASE)
    own_marks_require(user, case.problem)


def _may_lead(user: User, case: MarkingCase) -> bool:
    if not captain_is(user, case.problem) or _is_marking(user, case):
        return False
    own = Mark.objects.filter(task__case=case, marker=user).exclude(state=MarkState.VOID)
    return case.state in SETTLED or not own.exists()


def _is_marking(user: User, case: MarkingCase) -> bool:
    return case.tasks.filter(assignee=user, done_at=None).exists()


def marks_shown(case: MarkingCase, user: User, trigger: str) -> None:
    """Record in the ledger that this user was shown every sealed mark of the case, once per mark."""
    sealed = Mark.objects.filter(task__case=case, sealed_at__isnull=False).exclude(marker=user)
    for mark in sealed.exclude(state=MarkState.VOID):
        Reveal.objects.get_or_create(
            case=case, person=user, kind=RevealKind.COLLEAGUE, mark=mark, defaults={"trigger": trigger}
        )
