"""Who may open which contest, which paper, and who may learn who wrote it.

| | student of it | coach | organiser |
|---|---|---|---|
| contest, its problems | from its opening on | yes | yes |
| settings, state, coaches | no | no | yes |
| papers | the own one | from marking on, by number | the same |
| names beside numbers, where the contest is not anonymous | no | coaches only | coaches only |
| roster: names without numbers | no | no | yes, coaches only |
| whether a student or a model wrote a paper | no | no | yes, for figures over scripts that are settled |
| who wrote a paper | the own one | with `may_reveal`, a coach who judges none of it, with a reason that is kept | same |
| who wrote all papers | no | no | with `may_reveal`, once the results are signed off (`apps.marks.names`) |

Whoever is neither gets `Http404`: a contest's existence is nobody else's business. A researcher may organise a contest of model
proofs and never learns a name. Staff see the list of all contests with titles, states, organisers and counts, where they can
restore a deleted one and let the library show problems again; they open none.
"""

import uuid

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest
from django.utils import timezone

from apps.accounts.access import user_of
from apps.accounts.models import Role, User
from apps.contests.models import Contest, ContestCoach, ContestProblem, ContestState, Identity, Paper

NO_CONTEST = "There is no such contest."
READABLE = (ContestState.MARKING, ContestState.CLOSED)


def contest_may_create(user: User) -> bool:
    """Coaches and researchers organise contests."""
    return user.may_see_runs


def contests_administered_by(user: User) -> QuerySet[Contest]:
    """All contests, for staff; none for everybody else."""
    return Contest.objects.all() if user.is_active and user.is_staff else Contest.objects.none()


def creator_of(request: HttpRequest) -> User:
    """The signed-in person, or `Http404` where they may not make contests."""
    user = user_of(request)
    if not contest_may_create(user):
        raise Http404("There is no such page.")
    return user


def contest_visible_to(user: User) -> QuerySet[Contest]:
    """The contests that a person coaches, and those opened that they are a student of."""
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


def contest_get_for(user: User, public_id: uuid.UUID) -> Contest:
    """The contest, or `Http404`."""
    return _got(contest_visible_to(user).filter(public_id=public_id).first())


def coach_of(user: User, contest: Contest) -> ContestCoach | None:
    """What the person is in the contest; None for students and strangers, where a role was taken away, and in deleted ones."""
    is_there = user.may_see_runs and contest.state != ContestState.DELETED
    return contest.coaches.filter(person=user).first() if is_there else None


def coached_get_for(user: User, public_id: uuid.UUID) -> Contest:
    """The contest for one of its coaches, or `Http404`."""
    contest = contest_get_for(user, public_id)
    if coach_of(user, contest) is None:
        raise Http404(NO_CONTEST)
    return contest


def organised_get_for(user: User, public_id: uuid.UUID) -> Contest:
    """The contest for one of its organisers, or `Http404`."""
    contest = contest_get_for(user, public_id)
    coach = coach_of(user, contest)
    if coach is None or not coach.is_organiser:
        raise Http404(NO_CONTEST)
    return contest


def roster_may_read(user: User, contest: Contest) -> bool:
    """Organisers who are coaches see who takes part, never beside a number."""
    coach = coach_of(user, contest)
    return coach is not None and coach.is_organiser and user.role == Role.COACH


def rostered_get_for(user: User, public_id: uuid.UUID) -> Contest:
    """The contest for somebody who may read its roster, or `Http404`."""
    contest = contest_get_for(user, public_id)
    if not roster_may_read(user, contest):
        raise Http404(NO_CONTEST)
    return contest


def papers_may_read(user: User, contest: Contest) -> bool:
    """Coaches read papers when nothing more can be handed in."""
    return contest.state in READABLE and coach_of(user, contest) is not None


def paper_get_for(user: User, contest: Contest, public_id: uuid.UUID) -> Paper:
    """A paper for a coach of its contest, or `Http404`. It says nothing of who wrote it."""
    paper = contest.papers.filter(public_id=public_id).first()
    if paper is None or not papers_may_read(user, contest):
        raise Http404("There is no such paper.")
    return paper


def paper_own(user: User, contest: Contest) -> Paper | None:
    """The paper that this person writes, if they are a student of the contest."""
    identity = contest.identities.filter(person=user).select_related("paper").first()
    return identity.paper if identity else None


def problem_own_for(user: User, public_id: uuid.UUID) -> tuple[Paper, ContestProblem]:
    """A problem of a contest for one of its students, with their paper, or `Http404`."""
    asked = ContestProblem.objects.select_related("contest", "version", "problem").filter(public_id=public_id).first()
    if asked is None or not contest_visible_to(user).filter(pk=asked.contest_id).exists():
        raise Http404("There is no such problem.")
    paper = paper_own(user, asked.contest)
    if paper is None:
        raise Http404("There is no such problem.")
    return paper, asked


def names_for(user: User, contest: Contest) -> dict[int, str]:
    """Who wrote which paper, by the paper's key, for a coach of a contest that is not anonymous; empty for everybody else."""
    if contest.is_anonymous or user.role != Role.COACH or not papers_may_read(user, contest):
        return {}
    return dict(contest.identities.values_list("paper", "name"))


def author_kinds_for(user: User, contest: Contest) -> dict[int, str]:
    """Student or model, by the paper's key, for an organiser; empty for everybody else.

    Whoever asks shows it for papers alone that nobody has to mark any more: it is as secret as the name while marks are made.
    """
    coach = coach_of(user, contest)
    if coach is None or not coach.is_organiser or contest.state not in READABLE:
        return {}
    return dict(contest.identities.values_list("paper", "kind"))


def reveal_may(user: User, contest: Contest) -> bool:
    """The permission to open identities is given by name, and to coaches only."""
    coach = coach_of(user, contest)
    return coach is not None and coach.may_reveal and user.role == Role.COACH


def _got(contest: Contest | None) -> Contest:
    if contest is None:
        raise Http404(NO_CONTEST)
    return contest
