"""Conflicts of interest: whose students a marker must not get. Claims apply them; no page shows to which papers they lead.

An account has no school. An organiser who may read the roster therefore names schools of the roster, or groups of students.
A conflict can be taken back only by another organiser, because adding and removing one would reveal who wrote a paper.
"""

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Lower, Trim

from apps.accounts.models import GroupMember, StudentGroup, User
from apps.contests.access import groups_for, schools_for
from apps.contests.models import Contest, Identity, Paper
from apps.marks.audit import audit
from apps.marks.models import MarkerConflict


class ConflictRefused(Exception):
    """The conflict was not changed; the message gives the reason."""


@dataclass(frozen=True)
class Choices:
    """What an organiser may name in a conflict: schools and groups of the roster. Both are empty for other users."""

    schools: list[str]
    groups: list[StudentGroup]


def choices_for(user: User, contest: Contest) -> Choices:
    """The schools and groups that this user may name."""
    return Choices(schools_for(user, contest), list(groups_for(user, contest).select_related("made_by")))


def conflicts_of(contest: Contest) -> QuerySet[MarkerConflict]:
    """The conflicts of a contest, by marker."""
    return MarkerConflict.objects.filter(contest=contest).select_related("person", "group", "by")


def papers_in_conflict(user: User, contest: Contest) -> QuerySet[Identity]:
    """Papers of a contest whose author this user must not mark, as values of `paper`; `workspace.free` has the same rule."""
    own = MarkerConflict.objects.filter(contest=contest, person=user)
    schools = own.exclude(school="").annotate(plain=Lower(Trim("school"))).values("plain")
    members = GroupMember.objects.filter(group__in=own.exclude(group=None).values("group")).values("person")
    authors = contest.identities.annotate(plain=Lower(Trim("school")))
    return authors.filter(Q(plain__in=schools) | Q(person__in=members)).values("paper")  # type: ignore[return-value]


def people_in_conflict(paper: Paper) -> QuerySet[MarkerConflict]:
    """Coaches who must not mark a paper, as values of `person`."""
    author = Identity.objects.filter(paper=paper).first()
    if author is None:
        return MarkerConflict.objects.none().values("person")  # type: ignore[return-value]
    school = author.school.strip().lower()
    groups = GroupMember.objects.filter(person=author.person_id).values("group") if author.person_id else []
    rows = MarkerConflict.objects.filter(contest=paper.contest_id).annotate(plain=Lower(Trim("school")))
    is_of_school = Q(plain=school) if school else Q(pk__in=[])
    return rows.filter(is_of_school | Q(group__in=groups)).values("person")  # type: ignore[return-value]


@transaction.atomic
def conflict_declare(*, contest: Contest, person: User, school: str, group: StudentGroup | None, by: User) -> MarkerConflict:
    """Keep students of a school or a group from a marker. Declaring it again changes nothing. Raises `ConflictRefused`."""
    known = choices_for(by, contest)
    if not contest.coaches.filter(person=person).exists():
        raise ConflictRefused(f"{person.username} is not a coach of this contest.")
    if bool(school) == (group is not None):
        raise ConflictRefused("Choose a school or a group.")
    if (school and school not in known.schools) or (group is not None and group not in known.groups):
        raise ConflictRefused("This school or group has no student on the roster. Choose one from the list.")
    found, is_new = MarkerConflict.objects.get_or_create(
        contest=contest, person=person, school=school, group=group, defaults={"by": by}
    )
    if is_new:
        # The record is read by organisers who may not read the roster, so it names neither.
        audit("team.conflict", actor=by, contest=contest, marker=person.username)
    return found


@transaction.atomic
def conflict_remove(*, conflict: MarkerConflict, by: User) -> None:
    """Take back a conflict of another marker that another organiser declared. Raises `ConflictRefused`."""
    if by.pk in (conflict.by_id, conflict.person_id):
        raise ConflictRefused("Only another organiser can remove this conflict, so that it reveals no author.")
    audit("team.conflict-out", actor=by, contest=conflict.contest, marker=conflict.person.username)
    conflict.delete()
