"""Who may read an attempt, and who may answer it.

| | its student | coach of the sheet | coach of a group of the student | other coaches | researchers, staff |
|---|---|---|---|---|---|
| drafts, hints taken, set-aside problems | yes | no | no | no | no |
| versions on an open sheet | own | yes, by number | no | no | as coach of the sheet |
| versions in practice that the student shared | own | - | yes, with the name | if the student has no group | no |
| remarks, questions, replies | own text | same as versions | same as versions | same as versions | same as versions |

A student shares a text by a question, a disagreement or a claim, with the coaches of their groups at that moment, whom the page
names; joining a group later opens nothing. Coaches of a sheet that is not anonymous read names. While a
sheet is being marked, results are the only answers: questions wait, and remarks are not added. Other users get `Http404`.
"""

import uuid

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest

from apps.accounts.access import user_allowed
from apps.accounts.models import Role, User
from apps.contests.access import names_for, problem_own_for
from apps.contests.models import Contest, ContestKind, ContestProblem, ContestState, Paper
from apps.contests.practice import author_of, practice_of
from apps.practice.models import Question, Remark, SharedText
from apps.submissions.access import version_own_for
from apps.submissions.models import Scan, Submission, SubmissionVersion

HELPED = (ContestKind.SHEET, ContestKind.PRACTICE)
NO_TEXT = "There is no such text."
NO_PAGE = "There is no such page."


def problem_helped_for(user: User, public_id: uuid.UUID) -> tuple[Paper, ContestProblem]:
    """A student's own paper and a problem of a sheet or of their practice, or `Http404`."""
    paper, problem = problem_own_for(user, public_id)
    if problem.contest.kind not in HELPED:
        raise Http404(NO_PAGE)
    return paper, problem


def attempt_own_for(user: User, public_id: uuid.UUID) -> SubmissionVersion:
    """A version in a sheet or in practice for its author, or `Http404`."""
    version = version_own_for(user, public_id)
    if version.submission.paper.contest.kind not in HELPED:
        raise Http404(NO_TEXT)
    return version


def answerer_of(request: HttpRequest) -> User:
    """The signed-in coach or researcher; researchers answer on sheets that they coach. Raises `Http404` for students."""
    return user_allowed(request, lambda user: user.may_see_runs)


def texts_answered_by(user: User) -> QuerySet[Submission]:
    """The texts whose versions a coach may read and answer now."""
    if not user.may_see_runs:
        return Submission.objects.none()
    sheets = Contest.objects.filter(kind=ContestKind.SHEET, state=ContestState.OPEN, coaches__person=user)
    found = Q(paper__contest__in=sheets)
    if user.role == Role.COACH:
        shared = SharedText.objects.filter(Q(coach=user) | Q(coach=None)).values("submission")
        mine = practice_of(user)
        found |= Q(pk__in=shared, paper__contest__kind=ContestKind.PRACTICE) & ~Q(paper__contest=mine)
    return Submission.objects.filter(found)


def version_answered_for(user: User, public_id: uuid.UUID) -> SubmissionVersion:
    """A version that this coach may read and answer, or `Http404`. It does not identify its author."""
    rows = SubmissionVersion.objects.select_related(
        "submission__paper__contest", "submission__problem__problem", "submission__problem__version"
    )
    version = rows.filter(public_id=public_id, withdrawn_at=None, submission__in=texts_answered_by(user)).first()
    if version is None:
        raise Http404(NO_TEXT)
    return version


def remark_own_for(user: User, public_id: uuid.UUID) -> Remark:
    """A remark on the user's own text, or `Http404`."""
    remark = _remark(public_id)
    attempt_own_for(user, remark.version.public_id)
    return remark


def remark_answered_for(user: User, public_id: uuid.UUID) -> Remark:
    """A remark on a text that this coach may answer, or `Http404`."""
    remark = _remark(public_id)
    version_answered_for(user, remark.version.public_id)
    return remark


def question_own_for(user: User, public_id: uuid.UUID) -> Question:
    """A question of the user, or `Http404`."""
    question = Question.objects.select_related("version__submission__paper__contest").filter(public_id=public_id).first()
    if question is None:
        raise Http404("There is no such question.")
    attempt_own_for(user, question.version.public_id)
    return question


def page_shown_with_help(user: User, scan: Scan) -> bool:
    """Whether the handed-in page belongs to a text that this coach may answer."""
    return texts_answered_by(user).filter(pk=scan.submission_id).exists()


def author_shown(user: User, version: SubmissionVersion) -> str:
    """The author's name if this coach may read it: of texts shared with this coach, and on sheets that are not anonymous."""
    paper = version.submission.paper
    if paper.contest.kind == ContestKind.PRACTICE:
        is_named = SharedText.objects.filter(submission=version.submission_id, coach=user).exists()
        return author_of(paper) if is_named else ""
    return names_for(user, paper.contest).get(paper.pk, "")


def _remark(public_id: uuid.UUID) -> Remark:
    rows = Remark.objects.select_related("version__submission__paper__contest", "version__submission__problem")
    remark = rows.filter(public_id=public_id).first()
    if remark is None:
        raise Http404("There is no such remark.")
    return remark
