"""The contest of one person in which they practise: created with the first tried problem, open for ever, without coaches."""

from django.db import transaction
from django.db.models import Max, Q, QuerySet

from apps.accounts.models import GroupMember, Role, User
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


def papers_of_groups(coach: User) -> QuerySet[Paper]:
    """Papers of the practice of students in this coach's groups."""
    students = GroupMember.objects.filter(group__made_by=coach).values("person")
    return _papers(Identity.objects.filter(person__in=students))


def papers_without_coach() -> QuerySet[Paper]:
    """Papers of the practice of people who are in no group of an active coach."""
    coached = GroupMember.objects.filter(group__made_by__is_active=True, group__made_by__role=Role.COACH)
    return _papers(Identity.objects.filter(person__isnull=False).exclude(person__in=coached.values("person")))


def papers_of_author(paper: Paper) -> QuerySet[Paper]:
    """All papers in practice and on sheets of the person who wrote this one; this one alone if its author has no account."""
    person = Identity.objects.filter(paper=paper).values("person")
    same = Identity.objects.filter(person__isnull=False, person__in=person).values("paper")
    rows = Paper.objects.filter(contest__kind__in=(ContestKind.SHEET, ContestKind.PRACTICE))
    return rows.filter(Q(pk=paper.pk) | Q(pk__in=same))


def author_for(coach: User, paper: Paper) -> str:
    """The name of a practising student for a coach of one of their groups; empty for other coaches."""
    row = Identity.objects.filter(paper=paper, paper__in=papers_of_groups(coach)).first()
    return row.name if row is not None else ""


def _papers(rows: QuerySet[Identity]) -> QuerySet[Paper]:
    return Paper.objects.filter(contest__kind=ContestKind.PRACTICE, pk__in=rows.values("paper"))
