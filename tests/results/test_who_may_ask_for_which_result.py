"""Permissions on results, with real ids: a release, a text, its appeal and its request, for every kind of user.

`tests/access/rules.py` covers every address of the site; its rows about an unknown appeal only prove a 404.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Role, User
from apps.contests.models import ContestProblem
from apps.marks.models import Appeal, ReleaseBatch
from apps.reasoning.feedback.ladder import Rules
from apps.results import feedback
from apps.results.models import FeedbackRequest
from apps.results.urls import urlpatterns
from apps.submissions.models import Origin, SubmissionVersion, TextFormat
from apps.submissions.services import version_add
from tests.contests.factory import enter
from tests.marks.factory import marker
from tests.results.factory import TEXT, appeal_of, case_of, day_after, marked, version_of
from tests.results.hinted import hinted

ClientFor = Callable[[User | None], Client]
WHO = ("anonymous", "author", "another student", "coach", "organiser", "coach of nothing", "researcher", "staff")
STRANGERS = (404, 404, 404)


def only(author: int, student: int, coach: int, organiser: int) -> tuple[int, ...]:
    """Return a row with a redirect for anonymous visitors and 404 for strangers."""
    return (302, author, student, coach, organiser, *STRANGERS)


ORGANISER, COACHES, AUTHOR = only(404, 404, 404, 200), only(404, 404, 200, 200), only(200, 404, 404, 404)
PAGES = {
    "release": ORGANISER,
    "preview": ORGANISER,
    "own": only(200, 200, 404, 404),
    "result": AUTHOR,
    "result_pdf": AUTHOR,
    "appeal_write": AUTHOR,
    "appeal_list": COACHES,
    "appeal": COACHES,
    "feedback_own": AUTHOR,
    "feedback_queue": COACHES,
    "feedback_answer": COACHES,
    "ranking": COACHES,  # Not published; tests/results/test_ranking.py has who reads it then.
    "ranking_file": only(404, 404, 404, 404),
    "revision": only(404, 404, 404, 200),  # Earlier remarks are by a colleague; the organiser made this mark.
}
#: Addresses that accept only a POST; the tests send an empty form.
DONE = {
    "ranking_change": only(404, 404, 404, 302),
    "release_undo": only(404, 404, 404, 302),
    "appeal_withdraw": only(302, 404, 404, 404),
    "appeal_command": only(404, 404, 302, 302),
    "feedback_ask": only(302, 404, 404, 404),
    "feedback_rules": only(404, 404, 302, 302),
    "feedback_proposal": only(404, 404, 302, 302),
}


@dataclass(frozen=True)
class Room:
    """Charlie's text with results, an appeal, a request and a newer version, and the users of the table."""

    problem: ContestProblem
    old: SubmissionVersion
    new: SubmissionVersion
    people: dict[str, User | None]

    def url(self, name: str) -> str:
        contest = self.problem.contest.public_id
        values: dict[str, Any] = {
            "contest_id": contest,
            "problem_id": self.problem.public_id,
            "batch_id": ReleaseBatch.objects.get().public_id,
            "case_id": self.old.case.public_id,
            "version_id": self.new.public_id if name == "revision" else self.old.public_id,
            "appeal_id": Appeal.objects.get().public_id,
            "request_id": FeedbackRequest.objects.get().public_id,
            "verb": "take" if name == "appeal_command" else "decline",
            "level": 1,
            "form": "csv",
        }
        pattern = next(one for one in urlpatterns if one.name == name)
        return reverse(f"results:{name}", kwargs={key: values[key] for key in pattern.pattern.converters})


@pytest.fixture
def room(alice: User, bob: User, charlie: User, dana: User) -> Room:
    eve, staff = marker("eve"), User.objects.create_user("sam", role=Role.RESEARCHER, is_staff=True)
    problem = marked(bob, charlie, eve, scripts=0)
    other = User.objects.create_user("zed", role=Role.STUDENT)
    enter(problem.contest, other)
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(highest=7), by=bob, writer="tutor")
    day_after(problem.contest, bob)
    appeal_of(problem, charlie)
    old = case_of(problem, charlie).version
    hinted(old, bob, "Given.", "Proposed.")
    text = TEXT.replace("Similarly", "Likewise")
    new = version_add(submission=old.submission, text=text, text_format=TextFormat.MARKDOWN, origin=Origin.TYPED)
    people = dict(zip(WHO, (None, charlie, other, eve, bob, dana, alice, staff), strict=True))
    return Room(problem, SubmissionVersion.objects.get(pk=old.pk), version_of(problem, charlie) if new else new, people)


def test_every_address_of_results_is_in_the_table() -> None:
    assert {pattern.name for pattern in urlpatterns} == {*PAGES, *DONE}


def test_pages_follow_the_table(room: Room, client_for: ClientFor) -> None:
    for name, row in PAGES.items():
        url = room.url(name)
        given = {who: client_for(person).get(url).status_code for who, person in room.people.items()}
        assert given == dict(zip(WHO, row, strict=True)), name


def test_actions_follow_the_table(room: Room, client_for: ClientFor) -> None:
    for name, row in DONE.items():
        url = room.url(name)
        given = {}
        for who, person in room.people.items():
            with transaction.atomic():
                given[who] = client_for(person).post(url).status_code
                transaction.set_rollback(True)
        assert given == dict(zip(WHO, row, strict=True)), name


def test_a_get_never_performs_an_action(room: Room, client_for: ClientFor) -> None:
    for name in DONE:
        for who, person in room.people.items():
            assert client_for(person).get(room.url(name)).status_code == (405 if person else 302), f"{who} requests {name}"
