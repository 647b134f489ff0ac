"""The page Marking says what waits for a coach besides scripts: disputes, appeals, hints. What waits for others is left out."""

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.contests.services import coach_add
from apps.marks.coordination import Proposal, claim_make, proposal_make
from apps.marks.models import Appeal, Coordination
from apps.marks.sealing import cases_settle
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


def told(user: User) -> dict[str, int]:
    """What waits, by its name for one, over all contests."""
    found: dict[str, int] = {}
    for _, rows in waiting_for(user):
        for one in rows:
            found[one.one] = found.get(one.one, 0) + one.count
    return found


def disputed(bob: User, dana: User, *others: User, scripts: int = 1) -> list[Coordination]:
    """Scripts that Dana and Eve marked differently in a contest of Bob's."""
    eve = marker("eve")
    problem = problem_to_mark(bob, dana, eve, *others, scripts=scripts, markers=2)
    for _ in range(scripts):
        past_grace(sealed(claimed(problem, dana), dana, ("claim", {"line": "A1 A2"})))
        past_grace(sealed(claimed(problem, eve), eve, *LESS))
    cases_settle(problem.contest)
    return list(Coordination.objects.filter(case__problem=problem))


def test_a_dispute_waits_for_whoever_has_to_claim_or_sign_and_then_for_who_rules(bob: User, dana: User) -> None:
    fay = marker("fay")
    (one,) = disputed(bob, dana, fay)
    eve = marker("eve")
    assert (told(dana), told(eve), told(bob), told(fay)) == ({OWN: 1}, {OWN: 1}, {}, {})
    claim_make(coordination=one, by=dana, line="A1 A2")
    assert (told(dana), told(eve), told(bob)) == ({}, {OWN: 1}, {}), "Eve has yet to claim, and nobody rules before"
    one = claim_make(coordination=one, by=eve, line="A1 A2 -D1")
    assert (told(dana), told(eve), told(bob), told(fay)) == ({OWN: 1}, {OWN: 1}, {RULED: 1}, {})
    one.refresh_from_db()
    proposal_make(coordination=one, by=dana, proposal=Proposal("A1 A2 -D1", "It is short."), based_on=one.row_version)
    assert (told(dana), told(eve)) == ({}, {OWN: 1}), "Dana has signed, and waits for Eve"


def test_an_appeal_waits_for_those_who_may_hear_it(bob: User, charlie: User) -> None:
    eve, fay = marker("eve"), marker("fay")
    problem = marked(bob, charlie, eve, fay)
    day_after(problem.contest, bob)
    appeal = appeal_of(problem, charlie)
    assert (told(eve), told(fay), told(bob), told(charlie)) == ({APPEAL: 1}, {APPEAL: 1}, {}, {}), "Bob made the mark"
    task = task_whole(appeals.appeal_take(appeal=appeal, by=eve))
    assert (told(eve), told(fay)) == ({APPEAL: 1}, {}), "Eve hears it"
    past_grace(sealed(task, eve, ("claim", {"line": "A1 A2"})))
    assert told(eve) == {APPEAL: 1}
    appeals.appeal_uphold(appeal=appeal, by=eve, answer="It is right.")
    assert told(eve) == told(fay) == {}


def test_of_several_appeals_about_a_text_those_left_wait_for_who_heard_the_first(bob: User, charlie: User) -> None:
    eve, fay = marker("eve"), marker("fay")
    problem = marked(bob, charlie, eve, fay)
    day_after(problem.contest, bob)
    first, _ = appeal_of(problem, charlie), appeal_of(problem, charlie, "verdict:v2")
    past_grace(sealed(task_whole(appeals.appeal_take(appeal=first, by=eve)), eve, ("claim", {"line": "A1 A2"})))
    assert (told(eve), told(fay)) == ({APPEAL: 2}, {})
    appeals.appeal_uphold(appeal=Appeal.objects.get(pk=first.pk), by=eve, answer="It is right.")
    for user in (eve, fay, bob):
        rows = [one for one in appeals.appeals_open(problem.contest) if not appeals.hearing_refusal(user, one)]
        assert told(user).get(APPEAL, 0) == len(rows), f"{user.username}: as the page of appeals says"
    assert told(eve) == {APPEAL: 1}


def test_hints_wait_in_open_contests_and_not_while_their_text_is_marked(bob: User, charlie: User, dana: User) -> None:
    problem = make_contest(bob, state=ContestState.OPEN).problems.get()
    coach_add(contest=problem.contest, person=dana)
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(), by=bob)
    version = hand_in(*enter(problem.contest, charlie))
    request = feedback.request_open(version=version, track="repair", words="Is step 2 right?")
    waiting = len(feedback.requests_open(problem.contest, bob))
    assert waiting
    assert told(bob) == told(dana) == {HINT: waiting}
    assert told(charlie) == told(marker("eve")) == {}, "a student, and a coach of other contests"
    contest = moved(problem.contest, ContestState.MARKING)
    assert feedback.requests_open(contest, bob) == []
    assert told(bob) == {}
    request.refresh_from_db()
    assert request.ended_at is None


def test_the_page_leads_to_what_waits(bob: User, charlie: User, dana: User, client_for: ClientFor) -> None:
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


def test_more_that_waits_asks_no_more_of_the_database(bob: User, dana: User) -> None:
    disputed(bob, dana)
    with CaptureQueriesContext(
        connection,
    ) as one:
        assert told(dana) == {OWN: 1}
    disputed(bob, dana, scripts=3)
    with CaptureQueriesContext(connection) as more:
        assert told(dana) == {OWN: 4}
    assert len(more) <= len(one) + 2
