"""The record of a contest keeps each change in the same transaction and names no author."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import Contest, ContestState
from apps.contests.services import ContestRefused, contest_move
from apps.marks.models import AuditEvent
from apps.submissions.services import version_withdraw
from tests.contests.factory import enter, hand_in, make_contest

ClientFor = Callable[[User | None], Client]


def events(contest: Contest, by: User | None) -> list[tuple[str, dict[str, Any]]]:
    return [
        (one.verb, one.body) for one in AuditEvent.objects.filter(contest=contest, actor=by).exclude(verb="contest.created")
    ]


def test_the_record_keeps_every_change_with_the_organiser(client_for: ClientFor, bob: User, dana: User, charlie: User) -> None:
    contest = make_contest(bob)
    row, client, ids = contest.problems.get(), client_for(bob), {"contest_id": contest.public_id}
    client.post(reverse("contests:coach_change", kwargs=ids), {"username": dana.username, "may_reveal": "on"})
    client.post(reverse("contests:problem_change", kwargs=ids), {"captain_of": str(row.public_id), "captain": dana.username})
    client.post(reverse("contests:roster", kwargs=ids), {"students": charlie.username})
    client.post(reverse("contests:roster", kwargs=ids), {"students": charlie.username})
    settings = {"title": "Final", "point_step": "0.5", "is_anonymous": "on", "opens_at": "", "closes_at": "", "based_on": "1"}
    client.post(reverse("contests:edit", kwargs=ids), settings)
    for verb in ("open", "mark"):
        contest.refresh_from_db()
        client.post(reverse("contests:move", kwargs={**ids, "verb": verb}), {"based_on": contest.row_version})
    client.post(reverse("contests:coach_change", kwargs=ids), {"remove": dana.username})
    paper = contest.papers.get()
    address = reverse("contests:identity_reveal", kwargs={**ids, "paper_id": paper.public_id})
    client.post(address, {"reason": "Is it Charlie?"})
    assert events(contest, bob) == [
        ("contest.coach", {"person": "dana", "is_organiser": False, "may_reveal": True}),
        ("contest.captain", {"problem": str(row.public_id), "person": "dana"}),
        ("contest.students", {"added": 1}),
        ("contest.changed", {"title": "Final", "is_anonymous": True, "point_step": "0.5"}),
        ("contest.open", {}),
        ("contest.mark", {}),
        ("contest.coach-out", {"person": "dana"}),
        ("contest.identity", {"number": paper.number}),
    ]
    record = client.get(reverse("office:record", kwargs=ids)).content.decode()
    assert "Started marking" in record
    assert "Charlie" not in record.split("<main")[1]


def test_a_refused_change_leaves_no_event(bob: User) -> None:
    contest = make_contest(bob)
    with pytest.raises(ContestRefused):
        contest_move(contest=contest, verb="close", based_on=contest.row_version, by=bob)
    assert events(contest, bob) == []


def test_a_withdrawal_is_recorded_by_paper_number(bob: User, charlie: User) -> None:
    contest = make_contest(bob, state=ContestState.OPEN)
    paper, problem = enter(contest, charlie)
    version_withdraw(version=hand_in(paper, problem))
    body = {"problem": str(problem.public_id), "number": paper.number}
    assert ("contest.withdrawn", body) in events(contest, None)
    assert events(contest, charlie) == []
