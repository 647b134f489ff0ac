"""The Marking page lists open work besides scripts: the coach's disputes, appeals and hints, and no others."""

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.contests.services import coach_add
from apps.marks.coordination.coordination import Proposal, claim_make, proposal_make
from apps.marks.models import Appeal, Coordination
from apps.marks.sealing.sealing import cases_settle
from apps.marks.waiting import waiting_for
from apps.reasoning.feedback.ladder import Rules
from apps.results import appeals, feedback
from tests.contests.factory import enter, hand_in, make_contest, moved
from tests.marks.factory import claimed, marker, past_grace, problem_to_mark, sealed, task_whole
from tests.results.factory import appeal_of, case_of, day_after, marked, version_of

ClientFor = Callable[[User | None], Client]
OWN, RULED = "script to settle with a colleague", "dispute that you may rule on"
APPEAL, HINT = "appeal to answer", "hint to write"
LESS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("claim", {"line": "A1 A2 -D1"}),
    ("verdict", {"id": "v1", "step": 1, "fallacy": "gap", "words": "Why?"}),
)


def waiting(user: User) -> dict[str, int]:
    """Return the number of waiting objects of a user over all contests, by singular name."""
    found: dict[str, int] = {}
    for _, rows in waiting_for(user):
        for one in rows:
            found[one.one] = found.get(one.one, 0) + one.count
    return found


def disputed(bob: User, dana: User, *others: User, scripts: int = 1) -> list[Coordination]:
    """Create scripts that Dana and Eve marked differently in a contest of Bob's."""
    eve = marker("eve")
    problem = problem_to_mark(bob, dana, eve, *others, scripts=scripts, markers=2)
    for _ in range(scripts):
        past_grace(sealed(claimed(problem, dana), dana, ("claim", {"line": "A1 A2"})))
        past_grace(sealed(claimed(problem, eve), eve, *LESS))
    cases_settle(problem.contest)
    return list(Coordination.objects.filter(case__problem=problem))


def test_a_dispute_waits_for_claims_and_signatures_and_then_for_a_ruling(bob: User, dana: User) -> None:
    fay = marker("fay")
    (one,) = disputed(bob, dana, fay)
    eve = marker("eve")
    assert (waiting(dana), waiting(eve), waiting(bob), waiting(fay)) == ({OWN: 1}, {OWN: 1}, {}, {})
    claim_make(coordination=one, by=dana, line="A1 A2")
    assert (waiting(dana), waiting(eve), waiting(bob)) == ({}, {OWN: 1}, {}), (
        "Eve still has to claim, and no ruling is possible yet"
    )
    one = claim_make(coordination=one, by=eve, line="A1 A2 -D1")
    assert (waiting(dana), waiting(eve), waiting(bob), waiting(fay)) == ({OWN: 1}, {OWN: 1}, {RULED: 1}, {})
    one.refresh_from_db()
    proposal_make(coordination=one, by=dana, proposal=Proposal("A1 A2 -D1", "It is short."), based_on=one.row_version)
    assert (waiting(dana), waiting(eve)) == ({}, {OWN: 1}), "Dana has signed and is waiting for Eve"


def test_an_appeal_waits_for_eligible_coaches(bob: User, charlie: User) -> None:
    eve, fay = marker("eve"), marker("fay")
    problem = marked(bob, charlie, eve, fay)
    day_after(problem.contest, bob)
    appeal = appeal_of(problem, charlie)
    assert (waiting(eve), waiting(fay), waiting(bob), waiting(charlie)) == ({APPEAL: 1}, {APPEAL: 1}, {}, {}), (
        "Bob made the mark"
    )
    task = task_whole(appeals.appeal_take(appeal=appeal, by=eve))
    assert (waiting(eve), waiting(fay)) == ({APPEAL: 1}, {}), "Eve hears it"
    past_grace(sealed(task, eve, ("claim", {"line": "A1 A2"})))
    assert waiting(eve) == {APPEAL: 1}
    appeals.appeal_uphold(appeal=appeal, by=eve, answer="It is right.")
    assert waiting(eve) == waiting(fay) == {}


def test_further_appeals_about_a_text_wait_for_the_hearer_of_the_first(bob: User, charlie: User) -> None:
    eve, fay = marker("eve"), marker("fay")
    problem = marked(bob, charlie, eve, fay)
    day_after(problem.contest, bob)
    first, _ = appeal_of(problem, charlie), appeal_of(problem, charlie, "verdict:v2")
    past_grace(sealed(task_whole(appeals.appeal_take(appeal=first, by=eve)), eve, ("claim", {"line": "A1 A2"})))
    assert (waiting(eve), waiting(fay)) == ({APPEAL: 2}, {})
    appeals.appeal_uphold(appeal=Appeal.objects.get(pk=first.pk), by=eve, answer="It is right.")
    for user in (eve, fay, bob):
        rows = [one for one in appeals.appeals_open(problem.contest) if not appeals.hearing_refusal(user, one)]
        assert waiting(user).get(APPEAL, 0) == len(rows), f"{user.username}: the count must match the page of appeals"
    assert waiting(eve) == {APPEAL: 1}


def test_hints_wait_in_open_contests_and_not_while_their_text_is_marked(bob: User, charlie: User, dana: User) -> None:
    problem = make_contest(bob, state=ContestState.OPEN).problems.get()
    coach_add(contest=problem.contest, person=dana)
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(), by=bob)
    version = hand_in(*enter(problem.contest, charlie))
    request = feedback.request_open(version=version, track="repair", words="Is step 2 right?")
    count = len(feedback.requests_open(problem.contest, bob))
    assert count
    assert waiting(bob) == waiting(dana) == {HINT: count}
    assert waiting(charlie) == waiting(marker("eve")) == {}, "a student, and a coach of other contests"
    contest = moved(problem.contest, ContestState.MARKING)
    assert feedback.requests_open(contest, bob) == []
    assert waiting(bob) == {}
    request.refresh_from_db()
    assert request.ended_at is None


def test_the_page_links_to_open_work(bob: User, charlie: User, dana: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie, dana)
    client, address = client_for(dana), reverse("marks:home")
    assert "Waiting for you" not in client.get(address).content.decode()
    day_after(problem.contest, bob)
    appeal_of(problem, charlie)
    page = client.get(address).content.decode()
    assert "Waiting for you" in page
    assert f'<a href="{reverse("results:appeal_list", args=[problem.contest.public_id])}">1 appeal to answer</a>' in page
    assert version_of(problem, charlie).submission.paper.number not in page
    assert case_of(problem, charlie).state == "appealed"


def test_the_number_of_queries_does_not_grow_with_open_work(bob: User, dana: User) -> None:
    disputed(bob, dana)
    with CaptureQueriesContext(
        connection,
    ) as one:
        assert waiting(dana) == {OWN: 1}
    disputed(bob, dana, scripts=3)
    with CaptureQueriesContext(connection) as more:
        assert waiting(dana) == {OWN: 4}
    assert len(more) <= len(one) + 2
