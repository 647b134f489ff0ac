"""Waiting work of a coach other than scripts to mark, by contest. Apps above register their counters at start-up.

However much is waiting, each counter makes the same few database queries per contest at most.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Prefetch
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import Contest, ContestCoach, ContestProblem, ContestState
from apps.marks.blindness import problems_shut
from apps.marks.models import Coordination, Mark


@dataclass(frozen=True)
class Waiting:
    """A number of waiting things. `one`, `many`: their names in singular and plural."""

    count: int
    one: str
    many: str
    url: str

    @property
    def words(self) -> str:
        return self.one if self.count == 1 else self.many


#: Waiting things with the key of their contest; a count of 0 is omitted.
Counter = Callable[[User, Sequence[Contest]], Iterable[tuple[int, Waiting]]]
_COUNTERS: list[Counter] = []


def counter_register(counter: Counter) -> None:
    """Register a counter. Registering it again has no effect."""
    if counter not in _COUNTERS:
        _COUNTERS.append(counter)


def waiting_for(user: User) -> list[tuple[Contest, list[Waiting]]]:
    """The contests that the user coaches and in which something waits for them."""
    contests = list(
        Contest.objects.filter(coaches__person=user).exclude(state__in=(ContestState.PREPARING, ContestState.DELETED))
    )
    found: dict[int, list[Waiting]] = {}
    for counter in _COUNTERS if contests and user.may_see_runs else ():
        for key, waiting in counter(user, contests):
            if waiting.count:
                found.setdefault(key, []).append(waiting)
    return [(contest, found[contest.pk]) for contest in contests if contest.pk in found]


def coordinations_waiting(user: User, contests: Sequence[Contest]) -> Iterable[tuple[int, Waiting]]:
    """Disputes that wait for this marker to claim, propose or sign, and disputes they may rule on once all have claimed."""
    marked = [contest for contest in contests if contest.state == ContestState.MARKING]
    marks = Mark.objects.only("public_id", "marker")
    rows = list(
        Coordination.objects.filter(outcome="", case__problem__contest__in=marked)
        .select_related("case__problem")
        .prefetch_related("signatories", Prefetch("marks", marks))
    )
    if not rows:
        return
    coaches = set(ContestCoach.objects.filter(contest__in=marked).values_list("contest", "person"))
    organised = set(
        ContestCoach.objects.filter(contest__in=marked, person=user, is_organiser=True).values_list("contest", flat=True)
    )
    led = {row.case.problem for row in rows if _leads(row.case.problem, user, organised)}
    shut = problems_shut(user, led)
    held = set(user.marking_tasks.filter(done_at=None).values_list("case", flat=True))
    for contest in marked:
        own = ruled = 0
        for row in (one for one in rows if one.case.problem.contest_id == contest.pk):
            unclaimed = {mark.marker_id for mark in row.marks.all() if str(mark.public_id) not in row.claims}
            waited = {key for key in unclaimed if (contest.pk, key) in coaches}
            if user.pk in {mark.marker_id for mark in row.marks.all()}:
                own += user.pk in waited or (not waited and user not in row.signatories.all())
            elif not waited and row.case.problem in led and row.case.problem_id not in shut and row.case_id not in held:
                ruled += 1
        url = reverse("marks:coordination_list")
        yield contest.pk, Waiting(own, "script to settle with a colleague", "scripts to settle with colleagues", url)
        yield contest.pk, Waiting(ruled, "dispute that you may rule on", "disputes that you may rule on", url)


def _leads(problem: ContestProblem, user: User, organised: set[int]) -> bool:
    return problem.captain_id == user.pk or problem.contest_id in organised
