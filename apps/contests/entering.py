"""Enter many authors for a contest at once, and give authors their accounts; accounts are created where they are missing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from apps.accounts.enrolling import passwords_prepare, student_named, students_create
from apps.accounts.models import User
from apps.accounts.services import AccountRefused
from apps.contests.models import AuthorKind, Contest, Identity, Paper, paper_number_random
from apps.contests.record_keepers import event_publish
from apps.contests.services import ContestRefused, students_add
from apps.contests.windows import adding_refusal

_BATCH = 500


@dataclass(frozen=True)
class NewAuthor:
    """A student to enter; without an account, only by name."""

    name: str
    person: User | None = None
    school: str = ""
    external_id: str = ""


@dataclass(frozen=True)
class Pasted:
    """A list of students: those with an open account, and the others, each with its line, school and external id.

    `repeated`: names that the list has more than once. Equal lines count once.
    """

    known: list[tuple[User, str, str]]
    unknown: list[tuple[str, str, str, str]]
    repeated: list[str] = field(default_factory=list)

    @property
    def unknown_lines(self) -> str:
        """The lines without an account, to correct."""
        return "\n".join(line for line, *_ in self.unknown)


@transaction.atomic
def authors_enter(*, contest: Contest, authors: Sequence[NewAuthor], by: User | None) -> list[Paper]:
    """Create a paper with a random number for each author, in the same order. The caller has looked for known ones.

    Raises `ContestRefused` as `student_add` does.
    """
    if not authors:
        return []
    if refusal := adding_refusal(contest):
        raise ContestRefused(refusal)
    people = [one.person for one in authors if one.person is not None]
    if coach := contest.coaches.filter(person__in=people).select_related("person").first():
        raise ContestRefused(f"{coach.person.username} is a coach of this contest.")
    used = set(contest.papers.values_list("number", flat=True))
    numbers: list[str] = []
    while len(numbers) < len(authors):
        if (number := paper_number_random()) not in used:
            used.add(number)
            numbers.append(number)
    papers = Paper.objects.bulk_create([Paper(contest=contest, number=number) for number in numbers], batch_size=_BATCH)
    Identity.objects.bulk_create(
        [
            Identity(
                contest=contest,
                paper=paper,
                person=one.person,
                name=one.name,
                kind=AuthorKind.STUDENT,
                school=one.school,
                external_id=one.external_id,
            )
            for paper, one in zip(papers, authors, strict=True)
        ],
        batch_size=_BATCH,
    )
    event_publish(contest, "contest.students", by, added=len(authors))
    return papers


def students_enter(*, contest: Contest, pasted: Pasted, does_create: bool, by: User) -> tuple[int, list[tuple[User, str]]]:
    """Add the students of a list who have an account, and with `does_create` also the others, with new accounts.

    All or none; return the number of new students, and the new accounts with their passwords. Raises `ContestRefused`.
    """
    try:
        new = [student_named(name) for _, name, _, _ in pasted.unknown] if does_create else []
        passwords = passwords_prepare(len(new))
        with transaction.atomic():
            created = students_create(students=new, passwords=passwords)
            pairs = zip(created, pasted.unknown, strict=False)
            students = [(user, school, external) for (user, _), (_, _, school, external) in pairs]
            return students_add(contest=contest, students=[*pasted.known, *students], by=by), created
    except AccountRefused as refused:
        raise ContestRefused(str(refused)) from refused


@transaction.atomic
def authors_complete(*, contest: Contest, details: Mapping[int, tuple[str, str]]) -> None:
    """Fill in the empty school and external id of authors. `details`: both, by primary key of the identity; empty: none.

    A stored school or id is never replaced.
    """
    rows = list(contest.identities.filter(pk__in=details))
    for row in rows:
        school, external_id = details[row.pk]
        row.school, row.external_id = row.school or school, row.external_id or external_id
    Identity.objects.bulk_update(rows, ["school", "external_id"], batch_size=_BATCH)


@transaction.atomic
def authors_link(*, contest: Contest, accounts: Mapping[int, User]) -> int:
    """Give authors without an account theirs. `accounts`: by primary key of the identity. Returns the number of links.

    An author who has an account keeps it. Raises `ContestRefused` for an account that is a coach or an author already.
    """
    people = list(accounts.values())
    if contest.coaches.filter(person__in=people).exists() or contest.identities.filter(person__in=people).exists():
        raise ContestRefused("No author was linked: an account is a coach of this contest or has a paper in it already.")
    linked = 0
    for pk, person in accounts.items():
        linked += contest.identities.filter(pk=pk, person=None).update(person=person)
    return linked
