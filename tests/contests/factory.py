"""Contests for tests: Bob coaches, Charlie takes part."""

from typing import Any

from apps.accounts.models import User
from apps.contests.models import AuthorKind, Contest, ContestProblem, ContestState, Paper
from apps.contests.services import Settings, author_add, contest_create, contest_move, problem_add, student_add
from apps.problems.models import Problem
from apps.submissions.models import Submission, SubmissionVersion, TextFormat
from apps.submissions.services import version_hand_in
from tests.problems.factory import make_problem

TEXT = "Suppose $p = a^2 + b^2$.\n\nThen $p \\equiv 1 \\pmod 4$ or $p = 2$."


def make_contest(by: User, *problems: Problem, state: ContestState = ContestState.PREPARING, **settings: Any) -> Contest:
    """A contest of `by` with the given problems or a new one, moved to a state."""
    contest = contest_create(settings=Settings(title=settings.pop("title", "Selection test"), **settings), by=by)
    for problem in problems or (make_problem(),):
        problem_add(contest=contest, problem=problem)
    return moved(contest, state)


def moved(contest: Contest, state: ContestState) -> Contest:
    """The contest, moved to a later state."""
    order = list(ContestState)
    contest.refresh_from_db()
    for verb, target in (("open", ContestState.OPEN), ("mark", ContestState.MARKING), ("close", ContestState.CLOSED)):
        if order.index(ContestState(contest.state)) < order.index(target) <= order.index(state):
            contest = contest_move(contest=contest, verb=verb, based_on=contest.row_version)
    return contest


def enter(contest: Contest, person: User, school: str = "") -> tuple[Paper, ContestProblem]:
    """Add a student; return their paper and the first problem."""
    if contest.state == ContestState.MARKING:  # As if added before marking.
        name = person.get_full_name() or person.username
        paper = author_add(contest=contest, name=name, kind=AuthorKind.STUDENT, person=person, school=school)
        return paper, contest.problems.all()[0]
    return student_add(contest=contest, person=person, school=school), contest.problems.all()[0]


def hand_in(paper: Paper, problem: ContestProblem, text: str = TEXT) -> SubmissionVersion:
    """Hand in a text, replacing any draft. The paper's contest may be newer than the problem's."""
    problem.contest = paper.contest
    submission = Submission.objects.filter(paper=paper, problem=problem).first()
    based_on = submission.row_version if submission else 0
    return version_hand_in(paper=paper, problem=problem, text=text, text_format=TextFormat.MARKDOWN, based_on=based_on)


def copied_papers(first: SubmissionVersion, count: int) -> None:
    """Add `count` papers to the contest of `first`, each with its text."""
    problem, contest = first.submission.problem, first.submission.paper.contest
    papers = Paper.objects.bulk_create(Paper(contest=contest) for _ in range(count))
    texts = Submission.objects.bulk_create(Submission(paper=paper, problem=problem) for paper in papers)
    fields = {
        row.attname: getattr(first, row.attname) for row in first._meta.concrete_fields if row.name not in ("id", "public_id")
    }
    rows = [SubmissionVersion(**{**fields, "submission_id": text.pk}) for text in texts]
    SubmissionVersion.objects.bulk_create(rows)


def handed_in_at_a_contest(coach: User, student: User, problem: Problem) -> SubmissionVersion:
    """A student's text in a contest that is being marked."""
    contest = make_contest(coach, problem, state=ContestState.OPEN)
    version = hand_in(*enter(contest, student))
    moved(contest, ContestState.MARKING)
    return SubmissionVersion.objects.select_related("submission__paper__contest", "submission__problem").get(pk=version.pk)
