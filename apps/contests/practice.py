"""The contest of one person in which they practise: created with the first tried problem, open for ever, without coaches."""

import re

from django.db import transaction
from django.db.models import Max, QuerySet

from apps.accounts.models import Role, StudentGroup, User
from apps.contests.models import AuthorKind, Contest, ContestKind, ContestProblem, ContestState, Identity, Paper
from apps.contests.services import author_add
from apps.problems.models import Problem

TITLE = "Practice"


@transaction.atomic
def practice_problem(*, person: User, problem: Problem) -> ContestProblem:
    """The problem in this person's practice, added at the first call. The caller has checked that they may read it."""
    User.objects.select_for_update().get(pk=person.pk)  # Two first calls at once would make two practices.
    contest = practice_of(person)
    if contest is None:
        contest = Contest.objects.create(title=TITLE, kind=ContestKind.PRACTICE, state=ContestState.OPEN, shows_problems=True)
        name = person.get_full_name() or person.username
        author_add(contest=contest, name=name, kind=AuthorKind.STUDENT, person=person)
    found = contest.problems.filter(problem=problem).first()
    if found is not None:
        return found
    last = contest.problems.aggregate(last=Max("position"))["last"] or 0
    return ContestProblem.objects.create(
        contest=contest, problem=problem, version=problem.current, position=last + 1, label=str(last + 1)
    )


def practice_of(person: User) -> Contest | None:
    """The practice of a person; None until they try a problem."""
    return Contest.objects.filter(kind=ContestKind.PRACTICE, identities__person=person).first()


def sheets_open(person: User) -> QuerySet[Contest]:
    """Open sheets in which the person takes part."""
    return Contest.objects.filter(kind=ContestKind.SHEET, state=ContestState.OPEN, identities__person=person)


def coaches_of(paper: Paper) -> QuerySet[User]:
    """The active coaches who have the author of this paper in one of their groups."""
    person = Identity.objects.filter(paper=paper, person__isnull=False).values("person")
    groups = StudentGroup.objects.filter(members__person__in=person)
    return User.objects.filter(groups_made__in=groups, is_active=True, role=Role.COACH).distinct().order_by("username")


def person_of(paper: Paper) -> User | None:
    """The account of the author; for limits and for the author's own pages only."""
    return User.objects.filter(pk__in=Identity.objects.filter(paper=paper).values("person")).first()


def names_its_author(paper: Paper, text: str) -> bool:
    """Whether a text contains a name of its author: of the roster, of the account, or the user name.

    A name of two letters counts as a whole word only, a single letter not at all.
    """
    row = Identity.objects.select_related("person").filter(paper=paper).first()
    if row is None:
        return False
    names = row.name.split()
    if row.person is not None:
        names += [row.person.first_name, row.person.last_name, row.person.username]
    found, words = text.casefold(), set(re.findall(r"\w+", text))
    return any(name.casefold() in found if len(name) > 2 else len(name) == 2 and name in words for name in names)


def sheet_row_of(problem: ContestProblem) -> ContestProblem | None:
    """The same problem on a running sheet of a practising student, whose rules of help are then the only ones."""
    people = problem.contest.identities.filter(person__isnull=False).values("person")
    running = Contest.objects.filter(kind=ContestKind.SHEET, state__in=(ContestState.OPEN, ContestState.MARKING))
    rows = ContestProblem.objects.filter(contest__in=running.filter(identities__person__in=people), problem=problem.problem_id)
    return rows.select_related("contest").order_by("pk").first()


def author_of(paper: Paper) -> str:
    """The name of a practising student. The caller has checked that the student shared the text with this coach."""
    row = Identity.objects.filter(paper=paper, contest__kind=ContestKind.PRACTICE).first()
    return row.name if row is not None else ""
