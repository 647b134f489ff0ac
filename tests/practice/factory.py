"""Practice for tests: Charlie practises, Bob coaches."""

from typing import Any

from apps.accounts.models import GroupMember, StudentGroup, User
from apps.contests.models import Contest, ContestKind, ContestProblem, ContestState
from apps.practice.attempts import problem_try
from apps.problems.drafts import SolutionDraft
from apps.problems.models import Problem
from apps.submissions.models import SubmissionVersion
from tests.contests.factory import enter, hand_in, make_contest
from tests.problems.factory import make_problem

HINTS = ("Which numbers are odd squares?", "Try the first five odd numbers.", "Two neighbours: one of them is even.")
OWN = (
    "Let $n$ be odd, so $n = 2k + 1$ for a whole number $k$.\n\n"
    "Then $n^2 = 4k^2 + 4k + 1$, and one of $k$ and $k + 1$ is even.\n\n"
    "Hence $n^2$ leaves the remainder $1$ when it is divided by $8$."
)


def tried(student: User, problem: Problem | None = None) -> ContestProblem:
    """A problem that the student tries in practice."""
    return problem_try(person=student, problem=problem or make_problem())


def attempted(student: User, problem: Problem | None = None, text: str = OWN) -> SubmissionVersion:
    """A version that the student handed in, in practice."""
    row = tried(student, problem)
    return handed_in(row, text)


def handed_in(row: ContestProblem, text: str = OWN) -> SubmissionVersion:
    """A version of a practice problem."""
    return hand_in(row.contest.papers.get(), row, text)


def grouped(coach: User, *students: User) -> StudentGroup:
    """A group of this coach."""
    group = StudentGroup.objects.create(name=f"Camp of {coach.username}", made_by=coach)
    for student in students:
        GroupMember.objects.create(group=group, person=student)
    return group


def sheet_of(coach: User, student: User, problem: Problem | None = None, **settings: Any) -> ContestProblem:
    """A problem of an open sheet in which the student takes part."""
    contest = make_contest(
        coach, problem or make_problem(), kind=ContestKind.SHEET, title="Sheet 1", state=ContestState.OPEN, **settings
    )
    return enter(contest, student)[1]


def on_sheet(contest: Contest, student: User, text: str = OWN) -> SubmissionVersion:
    """A version that the student handed in on a sheet."""
    problem = contest.problems.get()
    return hand_in(contest.identities.get(person=student).paper, problem, text)


def with_hints(**changes: Any) -> Problem:
    """A problem with three hints and a reference solution of three steps."""
    solution = "Write $n = 2k + 1$.\n\nThen $n^2 - 1 = 4k(k + 1)$.\n\nSo $8$ divides it."
    fields = {"title": "Odd squares", "statement": "Prove that $8$ divides $n^2 - 1$ for every odd $n$.", "answer": ""}
    return make_problem(**{**fields, "solutions": (SolutionDraft(solution, "parity"),), "hints": HINTS, **changes})
