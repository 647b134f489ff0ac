"""Keep markers blind: no figures and no colleague's marks of a problem while one of their own marks there can change.

Captains and organisers have access to tables, statistics and ledgers. If they also mark a problem, these pages are closed to
them until their own marks on it are final or handed back. Hearings of appeals do not count, because their subject has been
released.
"""

import uuid
from collections.abc import Collection, Iterable

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import Contest, ContestProblem, ContestState
from apps.marks.models import MarkingTask, MarkState, PassReason, Slot
from apps.marks.sealing.sealing import is_final
from apps.marks.sheets import GRACE
from apps.marks.workspace.passes import task_pass


class OwnMarksOpen(Exception):
    """The reader has open marks on these problems: scripts in hand, or marks that can be reopened; `tasks` lists them."""

    def __init__(self, contest: Contest, tasks: list[MarkingTask]) -> None:
        super().__init__("Seal your own marks first.")
        self.contest, self.tasks = contest, tasks


def tasks_open(user: User, problems: Iterable[ContestProblem]) -> list[MarkingTask]:
    """This marker's tasks on these problems whose marks can still change, by problem and paper.

    Empty once marking is over.
    """
    since = timezone.now() - GRACE
    own = MarkingTask.objects.filter(assignee=user, case__problem__in=[problem.pk for problem in problems])
    own = own.filter(case__problem__contest__state=ContestState.MARKING).exclude(slot=Slot.APPEAL)
    own = own.select_related("mark", "case__problem__contest", "case__version__submission__paper")
    own = own.filter(Q(done_at=None) | Q(mark__state=MarkState.SEALED, mark__sealed_at__gte=since))
    rows = own.order_by("case__problem__position", "case__version__submission__paper__number", "pk")
    return [task for task in rows if task.done_at is None or not is_final(task.mark)]


def problems_shut(user: User, problems: Iterable[ContestProblem]) -> set[int]:
    """Keys of the problems whose figures this marker may not read now."""
    return {task.case.problem_id for task in tasks_open(user, problems)}


def own_marks_require(user: User, *problems: ContestProblem) -> None:
    """Raise `OwnMarksOpen` if one of the user's own marks on these problems can still change."""
    if tasks := tasks_open(user, problems):
        raise OwnMarksOpen(tasks[0].case.problem.contest, tasks)


@transaction.atomic
def tasks_hand_back(*, user: User, contest: Contest, tasks: Collection[uuid.UUID]) -> int:
    """Hand back the scripts of these tasks that the user holds, except hearings; returns their number. Drafts are kept."""
    held = MarkingTask.objects.filter(assignee=user, done_at=None, case__problem__contest=contest, public_id__in=tasks)
    rows = list(held.exclude(slot=Slot.APPEAL).select_related("case__problem__contest"))
    for task in rows:
        task_pass(task=task, user=user, reason=PassReason.SKIP)
    return len(rows)
