"""Authors stay unknown to the coaches who judge their papers.

| coach | identity of the author |
|---|---|
| holds a script of the paper, for marking or for an appeal | refused |
| sealed a mark that is not settled or can still be reopened | refused |
| already knows the author | gets no script of the paper to mark and hears no appeal about it |
"""

from apps.accounts.models import User
from apps.contests.models import Paper
from apps.marks.models import CaseState, MarkingTask, MarkState, Slot
from apps.marks.sealing.sealing import is_final
from apps.submissions.selectors import versions_to_mark

SETTLED = (CaseState.SETTLED, CaseState.RELEASED, CaseState.APPEALED)


def author_kept(paper: Paper, user: User) -> str:
    """Why this coach may not learn the author of a paper now, judging by their own work on it; empty if they may."""
    tasks = MarkingTask.objects.filter(case__version__submission__paper=paper, assignee=user)
    rows = tasks.select_related("mark", "case__problem").order_by("case__problem__position", "pk")
    newest = set(versions_to_mark(paper.contest, [paper]).values_list("pk", flat=True))
    for task in rows:
        label = task.case.problem.label
        if task.done_at is None:
            return f"You are marking problem {label} of this paper. Seal that mark or hand the script back first."
        is_heard = task.slot == Slot.APPEAL and task.case.state == CaseState.APPEALED
        is_open = task.case.version_id in newest and (is_heard or task.case.state not in SETTLED)
        if is_open or (task.mark.state == MarkState.SEALED and not is_final(task.mark)):
            return f"You marked problem {label} of this paper, and that mark is not settled yet."
    return ""
