"""The preview of a table: what an import would store, what is known already, and what is left out with the reason."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from apps.accounts.access import accounts_may_create
from apps.accounts.enrolling import ACCOUNTS_AT_ONCE, NewStudent, name_parts, usernames_taken
from apps.accounts.models import User
from apps.contests.models import Contest
from apps.files.grids import Grid
from apps.reasoning.marking.schemes.scheme import points_text, points_words
from apps.submissions.importing.texts import text_digest, text_digests
from apps.tables.choices import Choices
from apps.tables.columns import Column
from apps.tables.models import TablePoints
from apps.tables.people import LOOKS_AT_MOST, PersonPlan, people_plan
from apps.tables.problems import ProblemPlan, problems_plan
from apps.tables.reading import Entry, Person, Rows, rows_read

#: Paper and problem of stored rows.
Place = tuple[int, int]


@dataclass
class TablePlan:
    """What an import of a table does. `texts`, `points`: new entries; the same ones that are stored are counted only.

    `problems`: by lower-case name. `wrong`: reasons by line of the file; such a row is left out, or a part of it.
    """

    grid: Grid
    people: dict[str, PersonPlan]
    problems: dict[str, ProblemPlan]
    texts: list[Entry] = field(default_factory=list)
    points: list[Entry] = field(default_factory=list)
    known_texts: int = 0
    known_points: int = 0
    wrong: dict[int, list[str]] = field(default_factory=dict)

    @property
    def entered(self) -> list[PersonPlan]:
        """People who are added to the contest."""
        return [one for one in self.people.values() if one.is_new]

    @property
    def created(self) -> list[PersonPlan]:
        """People for whom accounts are created."""
        return [one for one in self.people.values() if one.is_created and not one.reason]

    @property
    def by_name(self) -> list[PersonPlan]:
        """People who are entered by name, without an account."""
        return [one for one in self.entered if one.account is None and not one.is_created]

    @property
    def linked(self) -> list[PersonPlan]:
        """Authors in the contest who get an account."""
        return [one for one in self.people.values() if one.is_linked_now]

    @property
    def without_account(self) -> list[PersonPlan]:
        """People for whom no account was found, entered or not."""
        return [one for one in self.people.values() if one.account is None and not one.candidates and one.identity is None]

    @property
    def to_look_at(self) -> list[PersonPlan]:
        """People who may have an account of their name, those that a page can show."""
        return [one for one in self.people.values() if one.candidates and not one.is_sure][:LOOKS_AT_MOST]

    @property
    def completed(self) -> list[PersonPlan]:
        """Authors in the contest whose empty school or id is filled in."""
        return [one for one in self.people.values() if any(one.details)]

    @property
    def used_problems(self) -> list[ProblemPlan]:
        """Problems to add to the contest, new ones and those of the library."""
        return [one for one in self.problems.values() if not one.reason and one.row is None]

    @property
    def references(self) -> int:
        """Number of reference solutions to add."""
        new = sum(len(one.draft.solutions) for one in self.problems.values() if one.draft and not one.reason)
        return new + sum(len(one.references) for one in self.problems.values() if not one.reason)

    @property
    def schemes(self) -> int:
        """Number of marking schemes to add."""
        return sum(one.scheme is not None for one in self.problems.values() if not one.reason)

    @property
    def memberships(self) -> list[tuple[str, str]]:
        """Groups and keys of the people with an account that the table puts into them."""
        rows = self.people.items()
        return [
            (one.person.group, key)
            for key, one in rows
            if one.person.group and not one.reason and (one.account or one.is_created)
        ]

    @property
    def has_news(self) -> bool:
        """Whether an import would store anything besides groups."""
        people = self.entered or self.linked or self.completed
        return bool(people or self.used_problems or self.references or self.schemes or self.texts or self.points)

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of an import, as they are kept."""
        return {
            "students": len(self.entered),
            "accounts": len(self.created),
            "linked": sum(1 for one in self.entered if one.account) + len(self.linked),
            "by_name": len(self.by_name),
            "completed": len(self.completed),
            "problems": len(self.used_problems),
            "references": self.references,
            "schemes": self.schemes,
            "texts": len(self.texts),
            "points": len(self.points),
            "known_texts": self.known_texts,
            "known_points": self.known_points,
            "known_people": sum(1 for one in self.people.values() if one.identity and not one.reason),
        }


def plan_make(contest: Contest | None, grid: Grid, columns: Sequence[Column], choices: Choices, user: User) -> TablePlan:
    """Plan the import of a table into a contest, or into a new one. Stores nothing."""
    rows = rows_read(grid, columns, out_of=choices.out_of, marker=choices.marker)
    coaches = set(contest.coaches.values_list("person", flat=True)) if contest else {user.pk}
    people = people_plan(rows.people, contest, choices, may_create=accounts_may_create(user), coaches=coaches)
    _check_accounts(people)
    plan = TablePlan(grid, people, problems_plan(rows.problems, contest, user), wrong=rows.wrong)
    for one in people.values():
        for reason in [one.reason] if one.reason else one.kept:
            rows.refuse(one.person.line, reason)
    for problem in plan.problems.values():
        if problem.reason:
            rows.refuse(problem.facts.line, problem.reason)
    _sort_entries(plan, rows, _Stored(contest))
    plan.wrong = dict(sorted(rows.wrong.items()))
    return plan


def new_student(person: Person) -> NewStudent:
    """The account to create for a person."""
    given, family = (person.given, person.family) if person.given or person.family else name_parts(person.name)
    return NewStudent(username=person.username, given=given, family=family, email=person.email)


def _check_accounts(people: dict[str, PersonPlan]) -> None:
    """Refuse accounts that cannot be created, names that differ from others in case only, and those above the limit."""
    created = [one for one in people.values() if one.is_created and not one.reason]
    taken = usernames_taken() if any(one.person.username for one in created) else set()
    count = 0
    for one in created:
        name = one.person.username.casefold()
        one.reason = new_student(one.person).fault
        if name in taken and not one.reason:
            one.reason = f"The user name {one.person.username} is taken, perhaps in other case. Correct it."
        if one.reason:
            continue
        taken |= {name} if name else set()
        count += 1
        if count > ACCOUNTS_AT_ONCE:
            one.reason = f"At most {ACCOUNTS_AT_ONCE} accounts are created at once. Import the same table again for the rest."


class _Stored:
    """Texts and points that the contest has."""

    def __init__(self, contest: Contest | None) -> None:
        self.texts: dict[Place, str] = text_digests(contest.pk) if contest else {}
        rows = TablePoints.objects.filter(paper__contest=contest) if contest else TablePoints.objects.none()
        self.points: dict[tuple[int, int, str], tuple[Decimal, Decimal]] = {
            (paper, problem, marker): (points, out_of)
            for paper, problem, marker, points, out_of in rows.values_list("paper", "problem", "marker", "points", "out_of")
        }


def _sort_entries(plan: TablePlan, rows: Rows, stored: _Stored) -> None:
    """Put the entries into the plan: new, known, or left out with the reason."""
    texts: dict[tuple[str, str], Entry] = {}
    points: dict[tuple[str, str, str], Entry] = {}
    for entry in rows.entries:
        name = entry.problem.casefold()
        person, problem = plan.people[entry.person], plan.problems[name]
        if reason := person.reason or problem.reason:
            rows.refuse(entry.line, reason)
            continue
        place = (person.identity.paper_id, problem.row.pk) if person.identity and problem.row else None
        if entry.text:
            first = texts.setdefault((entry.person, name), entry)
            _text_sort(plan, rows, entry, first, stored.texts.get(place, "") if place else "", problem)
        if entry.points:
            first = points.setdefault((entry.person, name, entry.points.marker), entry)
            known = stored.points.get((*place, entry.points.marker)) if place else None
            _points_sort(plan, rows, entry, first, known, problem)


def _text_sort(plan: TablePlan, rows: Rows, entry: Entry, first: Entry, digest: str, problem: ProblemPlan) -> None:
    who = plan.people[entry.person].person.shown
    if first is not entry and first.text != entry.text:
        rows.refuse(entry.line, _other(who, "another text", entry, first))
    elif first is not entry or (digest and digest == text_digest(entry.text)):
        plan.known_texts += 1
    elif digest:
        rows.refuse(entry.line, f"{who} already has another text for problem {problem.label}. It stays.")
    else:
        plan.texts.append(entry)
        problem.texts += 1


def _other(who: str, what: str, entry: Entry, first: Entry, more: str = "") -> str:
    """Why an entry is left out that contradicts the first one for its problem."""
    return (
        f"{who} has {what} for problem {entry.problem} in line {first.line}. "
        f"If these are two people, add a column with the school or an id{more}."
    )


def _points_sort(
    plan: TablePlan, rows: Rows, entry: Entry, first: Entry, known: tuple[Decimal, Decimal] | None, problem: ProblemPlan
) -> None:
    given, before = entry.points, first.points
    assert given is not None
    assert before is not None
    who = plan.people[entry.person].person.shown
    if first is not entry and (before.points, before.out_of) != (given.points, given.out_of):
        rows.refuse(entry.line, _other(who, "other points", entry, first, "; if two markers, one with the marker"))
    elif first is not entry and first.line != entry.line and not (first.text or entry.text):
        rows.refuse(entry.line, _other(who, "the same points", entry, first, "; if two markers, one with the marker"))
    elif first is not entry or known == (given.points, given.out_of):
        plan.known_points += 1
    elif known is not None:
        rows.refuse(
            entry.line, f"{who} already has {points_text(known[0])} of {points_words(known[1])} there. The stored points stay."
        )
    else:
        plan.points.append(entry)
        problem.points += 1
