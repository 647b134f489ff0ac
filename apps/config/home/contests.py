"""Contests on the home page: pending tasks for coaches; contests to write and released results for students."""

from dataclasses import dataclass

from apps.accounts.models import User
from apps.contests.access import contest_listed_for, contest_visible_to, paper_own
from apps.contests.models import Contest, ContestState
from apps.contests.windows import hand_in_refusal
from apps.marks.home import home_rows
from apps.marks.waiting import Waiting, waiting_for
from apps.results.shown import parts_released
from apps.submissions.selectors import own_rows

CONTESTS_SHOWN = 8


@dataclass(frozen=True)
class CoachedContest:
    """A contest that the user coaches. `left`: scripts that still need a mark, during marking."""

    contest: Contest
    left: int
    waiting: list[Waiting]


@dataclass(frozen=True)
class OwnContest:
    """A contest that the user takes part in. `missing`: problems without a submission, while handing in is possible.

    `is_released`: results were released to its students. The results page shows those of this user.
    """

    contest: Contest
    is_writing: bool
    missing: int
    is_released: bool


def contests_coached(user: User) -> list[CoachedContest]:
    """Open contests that the user coaches, and closed ones with pending tasks."""
    if not user.may_see_runs:
        return []
    coached = list(contest_visible_to(user).filter(coaches__person=user))
    if not coached:
        return []
    left = {row.contest.pk: sum(one.left for one in row.problems) for row in home_rows(user)}
    waiting = {contest.pk: found for contest, found in waiting_for(user)}
    shown = [one for one in coached if one.state != ContestState.CLOSED or one.pk in waiting]
    return [CoachedContest(one, left.get(one.pk, 0), waiting.get(one.pk, [])) for one in shown[:CONTESTS_SHOWN]]


def contests_own(user: User) -> list[OwnContest]:
    """Contests that the user takes part in: first those still open for handing in, by closing time."""
    found = [_own(one, user) for one in contest_listed_for(user).filter(identities__person=user)]
    found.sort(key=_soonest)
    return found[:CONTESTS_SHOWN]


def _own(contest: Contest, user: User) -> OwnContest:
    paper = paper_own(user, contest)
    is_writing = not hand_in_refusal(contest)
    missing = sum(row.handed_in is None for row in own_rows(contest, paper)) if is_writing and paper is not None else 0
    return OwnContest(contest, is_writing, missing, bool(parts_released(contest)))


def _soonest(one: OwnContest) -> tuple[bool, bool, float]:
    closes = one.contest.closes_at
    return not one.is_writing, closes is None, closes.timestamp() if closes is not None else -one.contest.created_at.timestamp()
