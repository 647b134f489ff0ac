"""Permissions for contests, papers and the identities of their authors.

| | student of it | coach | organiser |
|---|---|---|---|
| contest, its problems | from its opening on | yes | yes |
| settings, state, coaches | no | no | yes |
| papers | own paper | from marking on, on a sheet from its opening on, by number | same |
| names next to numbers, in a contest that is not anonymous | no | coaches only | coaches only |
| roster: names without numbers | no | no | yes, coaches only |
| whether a student or a model wrote a paper | no | no | yes, for statistics of settled scripts |
| author of a paper | own paper | with `may_reveal`, if the coach judges none of it, with a recorded reason | same |
| authors of all papers | no | no | with `may_reveal`, once the results are signed off (`apps.marks.office.names`) |

Practice is one student's contest: it has no coaches, and only its student opens it (`apps.practice.access` has the rest).
All other users get `Http404`, which hides that the contest exists. A researcher may organise a contest of model proofs and
never learns a name. Staff list all contests with titles, states, organisers and counts. They can restore a deleted contest and
show its problems in the library; they cannot open a contest.
"""

import uuid

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest
from django.utils import timezone

from apps.accounts.access import user_allowed
from apps.accounts.models import Role, StudentGroup, User
from apps.contests.models import AuthorKind, Contest, ContestCoach, ContestKind, ContestProblem, ContestState, Identity, Paper
from apps.contests.windows import is_begun

NO_CONTEST = "There is no such contest."
NO_PROBLEM = "There is no such problem."
READABLE = (ContestState.MARKING, ContestState.CLOSED)


def contest_may_create(user: User) -> bool:
    """Whether the user may create contests: coaches and researchers may."""
    return user.may_see_runs


def contests_administered_by(user: User) -> QuerySet[Contest]:
    """All contests for staff; an empty queryset for other users."""
    listed = Contest.objects.exclude(kind=ContestKind.PRACTICE)
    return listed if user.is_active and user.is_staff else Contest.objects.none()


def creator_of(request: HttpRequest) -> User:
    """Return the signed-in user. Raises `Http404` if they may not create contests."""
    return user_allowed(request, contest_may_create)


def contest_visible_to(user: User) -> QuerySet[Contest]:
    """Contests that a user coaches, and opened contests in which the user is a student."""
    if not user.is_active:
        return Contest.objects.none()
    now = timezone.now()
    is_begun = Q(state__in=READABLE) | Q(state=ContestState.OPEN) & (Q(opens_at=None) | Q(opens_at__lte=now))
    written = Contest.objects.filter(is_begun, pk__in=Identity.objects.filter(person=user).values("contest"))
    coached = (
        Contest.objects.filter(coaches__person=user).exclude(state=ContestState.DELETED)
        if user.may_see_runs
        else Contest.objects.none()
    )
    return Contest.objects.filter(Q(pk__in=written.values("pk")) | Q(pk__in=coached.values("pk")))


def contest_listed_for(user: User) -> QuerySet[Contest]:
    """Visible contests and sheets; practice is on pages of its own."""
    return contest_visible_to(user).exclude(kind=ContestKind.PRACTICE)


def contest_get_for(user: User, public_id: uuid.UUID) -> Contest:
    """Return a visible contest or raise `Http404`."""
    return _got(contest_visible_to(user).filter(public_id=public_id).first())


def coach_of(user: User, contest: Contest) -> ContestCoach | None:
    """The user's coach row; None for students, strangers, users who lost the role, and in deleted contests."""
    may_coach = user.may_see_runs and contest.state != ContestState.DELETED
    return contest.coaches.filter(person=user).first() if may_coach else None


def coached_get_for(user: User, public_id: uuid.UUID) -> Contest:
    """Return the contest for one of its coaches or raise `Http404`."""
    contest = contest_get_for(user, public_id)
    if coach_of(user, contest) is None:
        raise Http404(NO_CONTEST)
    return contest


def organised_get_for(user: User, public_id: uuid.UUID) -> Contest:
    """Return the contest for one of its organisers or raise `Http404`."""
    contest = contest_get_for(user, public_id)
    coach = coach_of(user, contest)
    if coach is None or not coach.is_organiser:
        raise Http404(NO_CONTEST)
    return contest


def roster_may_read(user: User, contest: Contest) -> bool:
    """Whether the user may read the roster, which has no paper numbers: organisers with the role of coach may."""
    coach = coach_of(user, contest)
    return coach is not None and coach.is_organiser and user.role == Role.COACH


def rostered_get_for(user: User, public_id: uuid.UUID) -> Contest:
    """Return the contest for a user who may read its roster or raise `Http404`."""
    contest = contest_get_for(user, public_id)
    if not roster_may_read(user, contest):
        raise Http404(NO_CONTEST)
    return contest


def schools_for(user: User, contest: Contest) -> list[str]:
    """The schools on the roster, by name, for a user who may read it; empty for other users."""
    if not roster_may_read(user, contest):
        return []
    return list(contest.identities.exclude(school="").order_by("school").values_list("school", flat=True).distinct())


def groups_for(user: User, contest: Contest) -> QuerySet[StudentGroup]:
    """Groups with a student of the contest, for a user who may read its roster; empty for other users."""
    if not roster_may_read(user, contest):
        return StudentGroup.objects.none()
    return StudentGroup.objects.filter(members__person__in=contest.identities.values("person")).distinct()


def papers_may_read(user: User, contest: Contest) -> bool:
    """Whether the user may read papers: coaches may, once a contest accepts no more submissions; on an open sheet too."""
    is_open_sheet = contest.kind == ContestKind.SHEET and contest.state == ContestState.OPEN
    return (contest.state in READABLE or is_open_sheet) and coach_of(user, contest) is not None


def paper_get_for(user: User, contest: Contest, public_id: uuid.UUID) -> Paper:
    """Return a paper without its author for a coach of its contest or raise `Http404`."""
    paper = contest.papers.filter(public_id=public_id).first()
    if paper is None or not papers_may_read(user, contest):
        raise Http404("There is no such paper.")
    return paper


def paper_own(user: User, contest: Contest) -> Paper | None:
    """The user's own paper, or None if the user is not a student of the contest."""
    identity = contest.identities.filter(person=user).select_related("paper").first()
    return identity.paper if identity else None


def papers_written_by(user: User) -> QuerySet[Paper]:
    """The user's own papers. `problem_may_read` decides whether the user may read the problem now."""
    return Paper.objects.filter(pk__in=Identity.objects.filter(person=user).values("paper"))


def problem_own_for(user: User, public_id: uuid.UUID) -> tuple[Paper, ContestProblem]:
    """Return a student's own paper and a problem of the contest, or raise `Http404`."""
    asked = ContestProblem.objects.select_related("contest").filter(public_id=public_id).first()
    paper = paper_own(user, asked.contest) if asked is not None else None
    if asked is None or paper is None or not problem_may_read(user, asked):
        raise Http404(NO_PROBLEM)
    return paper, asked


def problem_may_read(user: User, problem: ContestProblem) -> bool:
    """Whether a student of the contest may read the problem now.

    The rule for contests is that of `contest_visible_to`, without its query: every draft is saved through here. Some students
    coach their contest too.
    """
    contest = problem.contest
    if not user.is_active or not is_begun(problem):
        return False
    is_opened = contest.state == ContestState.OPEN and (contest.opens_at is None or contest.opens_at <= timezone.now())
    return contest.state in READABLE or is_opened or coach_of(user, contest) is not None


def names_for(user: User, contest: Contest) -> dict[int, str]:
    """Author names by paper key for a coach of a contest that is not anonymous; empty for other users."""
    if contest.is_anonymous or user.role != Role.COACH or not papers_may_read(user, contest):
        return {}
    return dict(contest.identities.values_list("paper", "name"))


def author_kinds_for(user: User, contest: Contest) -> dict[int, str]:
    """Kind of author (student or model) by paper key for an organiser; empty for other users.

    Callers show the kind only for papers without open marking work. Until then it is as secret as the name.
    """
    coach = coach_of(user, contest)
    if coach is None or not coach.is_organiser or contest.state not in READABLE:
        return {}
    return dict(contest.identities.values_list("paper", "kind"))


def papers_by_models(contest: Contest) -> frozenset[int]:
    """Keys of the papers that models wrote. Callers use it only for a list of results that is signed off."""
    return frozenset(contest.identities.filter(kind=AuthorKind.MODEL).values_list("paper", flat=True))


def reveal_may(user: User, contest: Contest) -> bool:
    """Whether the user may open identities: coaches with `may_reveal` may."""
    coach = coach_of(user, contest)
    return coach is not None and coach.may_reveal and user.role == Role.COACH


def _got(contest: Contest | None) -> Contest:
    if contest is None:
        raise Http404(NO_CONTEST)
    return contest
