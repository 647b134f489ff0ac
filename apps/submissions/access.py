"""Permissions for texts: authors read their own, coaches read those handed in to their contest from marking on.

Only its author can read a draft. Higher apps register further readers of pages at startup (`AppConfig.ready`).
"""

import uuid
from collections.abc import Callable

from django.http import Http404

from apps.accounts.models import User
from apps.contests.access import (
    NO_PROBLEM,
    contest_visible_to,
    organised_get_for,
    paper_own,
    papers_may_read,
    papers_written_by,
    problem_may_read,
    problem_own_for,
)
from apps.contests.models import Contest
from apps.submissions.models import ImportFile, Scan, Submission, SubmissionVersion

NO_TEXT = "There is no such text."
NO_PAGE = "There is no such page."

#: Whether another app lets the user see a handed-in page.
PageRule = Callable[[User, Scan], bool]
_PAGE_RULES: list[PageRule] = []


def page_reader_register(rule: PageRule) -> None:
    """Register a rule that lets further users see pages. Duplicates are ignored."""
    if rule not in _PAGE_RULES:
        _PAGE_RULES.append(rule)


def submission_own_for(user: User, problem_id: uuid.UUID) -> Submission:
    """Return the user's own text for a problem, unsaved if none is stored, or raise `Http404`.

    One query where a text is stored: every draft is saved through here.
    """
    rows = Submission.objects.select_related("paper", "problem__contest").filter(paper__in=papers_written_by(user))
    found = rows.filter(problem__public_id=problem_id).first()
    if found is None:
        paper, problem = problem_own_for(user, problem_id)
        return Submission(paper=paper, problem=problem)
    if not problem_may_read(user, found.problem):
        raise Http404(NO_PROBLEM)
    return found


def version_own_for(user: User, public_id: uuid.UUID) -> SubmissionVersion:
    """Return a version for its author or raise `Http404`."""
    version = _version(public_id)
    paper = version.submission.paper
    if not contest_visible_to(user).filter(pk=paper.contest_id).exists() or paper_own(user, paper.contest) != paper:
        raise Http404(NO_TEXT)
    return version


def version_marked_for(user: User, public_id: uuid.UUID) -> SubmissionVersion:
    """Return a version for a coach of its contest or raise `Http404`. It does not identify its author."""
    version = _version(public_id)
    if not papers_may_read(user, version.submission.paper.contest):
        raise Http404(NO_TEXT)
    return version


def scan_get_for(user: User, public_id: uuid.UUID) -> Scan:
    """Return a page for its author, for a coach who may read a version with it, or for a user admitted by a registered rule.

    Raises `Http404` for other users.
    """
    scan = Scan.objects.select_related("submission__paper__contest").filter(public_id=public_id).first()
    if scan is None:
        raise Http404(NO_PAGE)
    paper = scan.submission.paper
    is_own = contest_visible_to(user).filter(pk=paper.contest_id).exists() and paper_own(user, paper.contest) == paper
    if is_own or (
        scan.pages.exists() and (papers_may_read(user, paper.contest) or any(rule(user, scan) for rule in _PAGE_RULES))
    ):
        return scan
    raise Http404(NO_PAGE)


def scan_own_for(user: User, public_id: uuid.UUID) -> Scan:
    """Return a page of a draft for its author or raise `Http404`."""
    scan = scan_get_for(user, public_id)
    paper = scan.submission.paper
    if scan.position is None or paper_own(user, paper.contest) != paper:
        raise Http404(NO_PAGE)
    return scan


def import_file_get_for(user: User, contest_id: uuid.UUID, file_id: uuid.UUID) -> tuple[Contest, ImportFile]:
    """Return the user's own upload to a contest that they organise, or raise `Http404`."""
    contest = organised_get_for(user, contest_id)
    found = ImportFile.objects.filter(owner=user, contest=contest, public_id=file_id).first()
    if found is None:
        raise Http404("This upload was deleted. Choose the file again.")
    return contest, found


def _version(public_id: uuid.UUID) -> SubmissionVersion:
    rows = SubmissionVersion.objects.select_related(
        "submission__paper__contest", "submission__problem__problem", "submission__problem__version"
    )
    version = rows.filter(public_id=public_id).first()
    if version is None:
        raise Http404(NO_TEXT)
    return version
