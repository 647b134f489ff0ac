"""Who may open which result, appeal and request.

| | author | coach of the contest | organiser |
|---|---|---|---|
| results of a text | the own one, what batches released | no (marks have pages of their own) | as a preview |
| release, taking back | no | no | yes |
| an appeal | the own one | reads it; answers it where they made no mark of the text | the same |
| a request for feedback | the own one, hints given | by number, reads and answers it but for a text they mark | the same |
| remarks carried to a newer version | released and surely kept | who made that mark or sealed one of the newer text | same |

Whoever else asks gets `Http404`.
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

NO_APPEAL = "There is no such appeal."
NO_REQUEST = "There is no such request."
SEALED = (MarkState.SEALED, MarkState.CONFIRMED, MarkState.REVISED)

__all__ = ["organised_get_for", "problem_own_for", "version_own_for"]


def paper_own_for(user: User, contest_id: uuid.UUID) -> tuple[Contest, Paper]:
    """A contest with the paper that this person writes in it, or `Http404`."""
    contest = contest_get_for(user, contest_id)
    paper = paper_own(user, contest)
    if paper is None:
        raise Http404("There is no such contest.")
    return contest, paper


def case_previewed_for(user: User, contest: Contest, case_id: uuid.UUID) -> MarkingCase:
    """A case of a contest that this person organises, or `Http404`; also while a mark of their own on it is not sealed.

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
    """An appeal for a coach of its contest, or `Http404`; also for whoever is marking the same text and has not sealed."""
    appeal = _appeal(public_id)
    case = appeal.grade.case
    if coach_of(user, case.problem.contest) is None or marks_unsealed(user, case):
        raise Http404(NO_APPEAL)
    return appeal


def marks_unsealed(user: User, case: MarkingCase) -> bool:
    """Whether the person holds a task of this case that is not sealed, appeals apart: colleagues' words would not be blind."""
    return case.tasks.filter(assignee=user, done_at=None).exclude(slot="appeal").exists()


def made_marks(user: User, case: MarkingCase, *, besides: MarkingTask | None = None) -> bool:
    """Whether the person judged this text before: by a mark, or by signing what was settled.

    A mark that was made to hear an appeal counts once a grade came from it, but for the hearing `besides`.
    """
    marked = case.tasks.exclude(slot="appeal").filter(mark__marker=user, mark__state__in=SEALED)
    graded = case.grades.filter(mark__marker=user)
    graded = graded.exclude(mark__task=besides) if besides is not None else graded
    if marked.exists() or graded.exists():
        return True
    return case.coordinations.filter(Q(signatories=user) | Q(marks__marker=user)).exists()


def request_own_for(user: User, public_id: uuid.UUID) -> FeedbackRequest:
    """A request for its author, or `Http404`."""
    request = _request(public_id)
    version_own_for(user, request.version.public_id)
    return request


def request_answered_for(user: User, public_id: uuid.UUID) -> FeedbackRequest:
    """A request for a coach of its contest, or `Http404`; also while a mark of the coach's own on the text can change.

    Nothing of it leads to its author.
    """
    request = _request(public_id)
    if not request_may_answer(user, request):
        raise Http404(NO_REQUEST)
    return request


def request_may_answer(user: User, request: FeedbackRequest) -> bool:
    """Whether the person coaches the contest of a request, and no mark of their own on the text can still change."""
    contest = request.version.submission.paper.contest
    return coach_of(user, contest) is not None and request.version.submission_id not in texts_marked(user, contest)


def texts_marked(user: User, contest: Contest) -> set[int]:
    """The keys of the texts on which a mark of this person's own can still change, hearings of appeals apart.

    In any version and any state of the contest: one that was opened again goes back to marking with what was begun.
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
    """Earlier remarks are a colleague's words: read by whoever made that mark, or has sealed one of the newer text."""
    if coach_of(user, version.submission.paper.contest) is None:
        return False
    if grade.mark is not None and grade.mark.marker_id == user.pk:
        return True
    case = MarkingCase.objects.filter(version=version).first()
    if case is None or marks_unsealed(user, case):
        return False
    return case.tasks.filter(mark__marker=user, mark__state__in=SEALED).exists()


def carried_candidates(user: User, versions: Collection[SubmissionVersion]) -> set[int]:
    """The keys of the versions to ask `carried_may_read` about: texts of which the person sealed a mark in any version."""
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
