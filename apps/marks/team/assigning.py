"""Assign scripts to markers, and hand them over. An assignment changes which script *Mark* gives, never a mark.

Scripts are assigned by problem and by ranges of paper numbers, which are random. `workspace.free` applies assignments.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet

from apps.accounts.models import User
from apps.contests.models import ContestCoach, ContestProblem
from apps.marks.audit import audit
from apps.marks.leases import drafts_archive, lease_end
from apps.marks.models import CLAIMED, Assignment, CaseState, MarkingCase, MarkingTask
from apps.marks.setups import cases_prepare
from apps.reasoning.marking.schemes.scheme import text_clean
from apps.reasoning.marking.sheets.sheet import REASON_LENGTH

FREE = "any free marker"


class AssigningRefused(Exception):
    """Nothing was assigned or handed over; the message gives the reason."""


@dataclass(frozen=True)
class Share:
    """Which scripts are assigned, and how. `first`, `last`: paper numbers of a range, empty for the first and the last paper.

    `is_split`: each marker gets an equal part of the range instead of the whole. `is_shared`: any free marker may take the
    scripts as well.
    """

    first: str = ""
    last: str = ""
    is_split: bool = True
    is_shared: bool = False


@transaction.atomic
def scripts_assign(*, problem: ContestProblem, markers: Sequence[User], share: Share, by: User) -> int:
    """Assign the open scripts of a range; replaces what was assigned there. Without markers they are for any free marker.

    Returns the number of scripts. Raises `AssigningRefused`.
    """
    if cases_prepare(problem) is None:
        raise AssigningRefused(f"First choose how problem {problem.label} is marked.")
    _coaches_require(problem, markers)
    cases = _cases_open(problem, share)
    if not cases:
        raise AssigningRefused("No script to be marked is in this range. Check the paper numbers.")
    Assignment.objects.filter(case__in=[case.pk for case in cases]).delete()
    count, own = len(markers), len(cases)
    rows = [
        Assignment(case=case, marker=marker, is_shared=share.is_shared, by=by)
        for number, case in enumerate(cases)
        for place, marker in enumerate(markers)
        if not share.is_split or number * count // own == place
    ]
    Assignment.objects.bulk_create(rows, batch_size=500)
    numbers = [case.version.submission.paper.number for case in cases]
    audit(
        "team.assigned",
        actor=by,
        contest=problem.contest,
        problem=str(problem.public_id),
        given_to=[marker.username for marker in markers] or FREE,
        scripts=own,
        list=f"{numbers[0]} to {numbers[-1]}",
        is_shared=share.is_shared,
    )
    return own


@transaction.atomic
def scripts_hand_over(*, problem: ContestProblem, marker: User, to: User | None, reason: str, by: User) -> int:
    """Take the unfinished scripts of a marker, also those in hand, and assign them to another, or to any free marker.

    Work on scripts in hand is kept in the record for its marker. Returns the number of scripts. Raises `AssigningRefused`.
    """
    reason = text_clean(reason)
    if not reason or len(reason) > REASON_LENGTH:
        raise AssigningRefused(f"Enter a reason of at most {REASON_LENGTH} characters. The record keeps it.")
    if to == marker:
        raise AssigningRefused("Choose another marker to give the scripts to.")
    _coaches_require(problem, [to] if to else [])
    held = in_hand(problem, marker)
    done = MarkingTask.objects.filter(case__problem=problem, assignee=marker, done_at__isnull=False).values("case")
    given = Assignment.objects.filter(case__problem=problem, case__state=CaseState.OPEN, marker=marker).exclude(case__in=done)
    cases = set(given.values_list("case", flat=True)) | {task.case_id for task in held}
    if not cases:
        raise AssigningRefused(f"{marker.username} has no unfinished script of problem {problem.label}.")
    for task in held:
        if lease_end(task, marker):
            drafts_archive(task.pk, to=None)
    if to is None:
        given.delete()
    else:
        shared = dict(given.values_list("case", "is_shared"))
        given.delete()
        rows = [Assignment(case_id=case, marker=to, is_shared=shared.get(case, False), by=by) for case in sorted(cases)]
        Assignment.objects.bulk_create(rows, ignore_conflicts=True)
    papers = MarkingCase.objects.filter(pk__in=cases).order_by("version__submission__paper__number")
    audit(
        "team.handed-over",
        actor=by,
        contest=problem.contest,
        problem=str(problem.public_id),
        marker=marker.username,
        given_to=to.username if to else FREE,
        scripts=len(cases),
        list=list(papers.values_list("version__submission__paper__number", flat=True)),
        reason=reason,
    )
    return len(cases)


def in_hand(problem: ContestProblem, marker: User) -> list[MarkingTask]:
    """The scripts of a problem that a marker holds, except hearings of appeals, calibration and re-marks."""
    held = MarkingTask.objects.filter(case__problem=problem, assignee=marker, done_at=None, slot__in=CLAIMED)
    return list(held.select_related("case").order_by("pk"))


def _cases_open(problem: ContestProblem, share: Share) -> list[MarkingCase]:
    """Scripts of the range without a result, by paper number. Raises `AssigningRefused` for a reversed range."""
    first, last = share.first.strip().upper(), share.last.strip().upper()
    if first and last and first > last:
        raise AssigningRefused(f"The range ends before it begins: {first} comes after {last}.")
    cases: QuerySet[MarkingCase] = MarkingCase.objects.filter(problem=problem, state=CaseState.OPEN)
    cases = cases.filter(version__submission__paper__number__gte=first) if first else cases
    cases = cases.filter(version__submission__paper__number__lte=last) if last else cases
    return list(cases.select_related("version__submission__paper").order_by("version__submission__paper__number"))


def _coaches_require(problem: ContestProblem, people: Iterable[User]) -> None:
    coaches = set(ContestCoach.objects.filter(contest=problem.contest_id).values_list("person", flat=True))
    if strangers := [person.username for person in people if person.pk not in coaches]:
        raise AssigningRefused(f"{', '.join(strangers)}: not a coach of this contest. Add them as a coach first.")
