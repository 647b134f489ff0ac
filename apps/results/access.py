"""Access to results, appeals and requests for feedback.

| | author | coach of the contest | organiser |
|---|---|---|---|
| results of a text | own text, as far as batches released it | no (marks have their own pages) | as a preview |
| releasing, taking back | no | no | yes |
| the published ranking | once published | by number, with names once they opened the identities | same; publishes it |
| an appeal | own one | reads it; answers it if they made no mark of the text | same as coach |
| a request for feedback | own one, given hints | by number; reads and answers it unless marking the text | same as coach |
| remarks carried to a newer version | if released and kept | if they made that mark or sealed one of the newer text | same |

Other users get `Http404`.
"""

import uuid
from collections.abc import Collection

from django.db.models import Q
from django.http import Http404

from apps.accounts.models import User
from apps.contests.access import coach_of, contest_get_for, contest_visible_to, organised_get_for, paper_own, problem_own_for
from apps.contests.models import Contest, ContestProblem, Paper
from apps.marks.blindness import own_marks_require, tasks_open
from apps.marks.models import Appeal, FinalGrade, Mark, MarkingCase, MarkingTask, MarkState, Slot
from apps.results.models import FeedbackRequest
from apps.submissions.access import version_own_for
from apps.submissions.models import SubmissionVersion

NO_APPEAL = "No such appeal."
NO_REQUEST = "No such request."
SEALED = (MarkState.SEALED, MarkState.CONFIRMED, MarkState.REVISED)

__all__ = ["organised_get_for", "problem_own_for", "version_own_for"]


def paper_own_for(user: User, contest_id: uuid.UUID) -> tuple[Contest, Paper]:
    """A contest with this user's own paper in it, or `Http404`."""
    contest = contest_get_for(user, contest_id)
    paper = paper_own(user, contest)
    if paper is None:
        raise Http404("There is no such contest.")
    return contest, paper


def ranking_readable(user: User, contest: Contest) -> bool:
    """Whether the user is a student of the contest and a ranking is published."""
    return paper_own(user, contest) is not None and contest.rankings.filter(withdrawn_at=None).exists()


def case_previewed_for(user: User, contest: Contest, case_id: uuid.UUID) -> MarkingCase:
    """A case of a contest that this user organises, or `Http404`, also while their own mark on it is not sealed.

    Raises `OwnMarksOpen` while they mark other scripts of its problem.
    """
    coach = coach_of(user, contest)
    found = MarkingCase.objects.filter(problem__contest=contest, public_id=case_id).first()
    if found is None or coach is None or not coach.is_organiser or found.tasks.filter(assignee=user, done_at=None).exists():
        raise Http404("There is no such text.")
    own_marks_require(user, found.problem)
    return found


def appeal_own_for(user: User, public_id: uuid.UUID) -> Appeal:
    """An appeal for the author of its text, or `Http404`."""
    appeal = _appeal(public_id)
    version_own_for(user, appeal.grade.case.version.public_id)
    return appeal


def appeal_heard_for(user: User, public_id: uuid.UUID) -> Appeal:
    """An appeal for a coach of its contest, or `Http404`, also while the coach has an unsealed mark on the text."""
    appeal = _appeal(public_id)
    case = appeal.grade.case
    if coach_of(user, case.problem.contest) is None or marks_unsealed(user, case):
        raise Http404(NO_APPEAL)
    return appeal


def marks_unsealed(user: User, case: MarkingCase) -> bool:
    """Whether the user holds an unsealed task of this case other than an appeal; colleagues' words would end its blindness."""
    return case.tasks.filter(assignee=user, done_at=None).exclude(slot="appeal").exists()


def made_marks(user: User, case: MarkingCase, *, except_for: MarkingTask | None = None) -> bool:
    """Whether the user judged this text before, by a mark or by signing a coordination.

    A mark made for an appeal counts once a grade came from it, except in the hearing `except_for`.
    """
    marked = case.tasks.exclude(slot="appeal").filter(mark__marker=user, mark__state__in=SEALED)
    graded = case.grades.filter(mark__marker=user)
    graded = graded.exclude(mark__task=except_for) if except_for is not None else graded
    if marked.exists() or graded.exists():
        return True
    return case.coordinations.filter(Q(signatories=user) | Q(marks__marker=user)).exists()


def request_own_for(user: User, public_id: uuid.UUID) -> FeedbackRequest:
    """A request for its author, or `Http404`."""
    request = _request(public_id)
    version_own_for(user, request.version.public_id)
    return request


def request_answered_for(user: User, public_id: uuid.UUID) -> FeedbackRequest:
    """A request for a coach of its contest, or `Http404`, also while the coach's own mark on the text can change.

    It contains nothing about the author.
    """
    request = _request(public_id)
    if not request_may_answer(user, request):
        raise Http404(NO_REQUEST)
    return request


def request_may_answer(user: User, request: FeedbackRequest) -> bool:
    """Whether the user coaches the contest of a request and no mark of theirs on the text can still change."""
    contest = request.version.submission.paper.contest
    return coach_of(user, contest) is not None and request.version.submission_id not in texts_marked(user, contest)


def texts_marked(user: User, contest: Contest) -> set[int]:
    """Keys of the texts on which a mark of this user can still change, except hearings of appeals.

    Covers every version and every state of the contest, because a reopened contest returns to marking with its drafts.
    """
    held = MarkingTask.objects.filter(case__problem__contest=contest, assignee=user, done_at=None).exclude(slot=Slot.APPEAL)
    texts = set(held.values_list("case__version__submission", flat=True))
    return texts | {task.case.version.submission_id for task in tasks_open(user, contest.problems.all())}


def problem_coached_for(user: User, public_id: uuid.UUID) -> ContestProblem:
    """A problem of a contest for one of its coaches, or `Http404`."""
    found = ContestProblem.objects.select_related("contest", "problem").filter(public_id=public_id).first()
    if found is None or not contest_visible_to(user).filter(pk=found.contest_id).exists():
        raise Http404("There is no such problem.")
    if coach_of(user, found.contest) is None:
        raise Http404("There is no such problem.")
    return found


def carried_may_read(user: User, grade: FinalGrade, version: SubmissionVersion) -> bool:
    """Whether the user may read earlier remarks, which are a colleague's words.

    Allowed if they made that mark or sealed one of the newer text.
    """
    if coach_of(user, version.submission.paper.contest) is None:
        return False
    if grade.mark is not None and grade.mark.marker_id == user.pk:
        return True
    case = MarkingCase.objects.filter(version=version).first()
    if case is None or marks_unsealed(user, case):
        return False
    return case.tasks.filter(mark__marker=user, mark__state__in=SEALED).exists()


def carried_candidates(user: User, versions: Collection[SubmissionVersion]) -> set[int]:
    """Keys of versions that may pass `carried_may_read`: texts of which the user sealed a mark in any version."""
    texts = {one.submission_id for one in versions}
    sealed = Mark.objects.filter(marker=user, state__in=SEALED, task__case__version__submission__in=texts)
    texts = set(sealed.values_list("task__case__version__submission", flat=True))
    return {one.pk for one in versions if one.submission_id in texts}


def _appeal(public_id: uuid.UUID) -> Appeal:
    rows = Appeal.objects.select_related(
        "grade__case__problem__contest", "grade__case__version__submission__paper", "grade__scheme_version", "mark"
    )
    found = rows.filter(public_id=public_id).first()
    if found is None:
        raise Http404(NO_APPEAL)
    return found


def _request(public_id: uuid.UUID) -> FeedbackRequest:
    rows = FeedbackRequest.objects.select_related(
        "version__submission__paper__contest", "version__submission__problem__problem"
    )
    found = rows.filter(public_id=public_id).first()
    if found is None:
        raise Http404(NO_REQUEST)
    return found
