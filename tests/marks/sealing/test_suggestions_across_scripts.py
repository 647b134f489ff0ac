"""One list of the suggestions on all sealed scripts: what is new, what differs, and what is cleared in one stroke."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.marks.models import Mark, MarkState, Reveal
from apps.marks.sealing.revealing import finding_answer, findings_shown, stage_show
from apps.marks.workspace.triage import Group, triage_clear, triage_look, triage_next, triage_of
from apps.reasoning.marking.revealing import Stage
from apps.reasoning.marking.suggestion import PointsShare, SuggestionBody
from tests.marks.factory import claimed, past_grace, problem_to_mark, script_scanned, sealed
from tests.marks.suggested import BODY, SECRET, SEVEN, suggested

ClientFor = Callable[[User | None], Client]

pytestmark = pytest.mark.django_db
NOTHING = SuggestionBody()
FAR = SuggestionBody(distribution=(PointsShare(points=Decimal(2), share=1.0),))
UNREAD = SuggestionBody(unscored="it is no JSON", raw="…")


@pytest.fixture(autouse=True)
def _only_authored_suggestions(settings: Settings) -> None:
    settings.MARKING_GRADERS = ()


@pytest.fixture
def marks(bob: User) -> list[Mark]:
    """Five sealed marks with all points, past their grace: with findings, twice without, far points, an unread answer."""
    problem = problem_to_mark(bob, scripts=5, unrevealed_percent=0)
    made = [past_grace(sealed(claimed(problem, bob), bob, *SEVEN)) for _ in range(5)]
    for mark, body in zip(made, (BODY, NOTHING, NOTHING, FAR, UNREAD), strict=True):
        suggested(mark, body)
    return made


def groups(user: User) -> dict[str, int]:
    return {one.group.value: len(one.rows) for one in triage_of(user).groups}


def test_nothing_is_shown_until_the_marker_asks(marks: list[Mark], bob: User, client_for: ClientFor) -> None:
    page = client_for(bob).get(reverse("marks:sealed_list")).content.decode()
    assert "Show where findings are in 5 scripts" in page
    assert "step 1" not in page
    assert groups(bob) == {}
    assert not Reveal.objects.exists()


def test_looking_shows_places_alone_and_is_recorded(marks: list[Mark], bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    client.post(reverse("marks:triage_show"))
    assert groups(bob) == {"new": 1, "decide": 1, "unread": 1, "nothing": 2}
    page = client.get(reverse("marks:sealed_list")).content.decode()
    assert "step 1, step 2" in page
    assert SECRET not in page
    kinds = {mark.pk: set(Reveal.objects.filter(case=mark.task.case).values_list("kind", flat=True)) for mark in marks}
    assert kinds[marks[0].pk] == {"locations"}, "types and points wait for their stage"
    assert kinds[marks[1].pk] == {"locations", "findings", "items"}, "where nothing was found no stage hides anything"
    assert kinds[marks[3].pk] == {"locations"}, "points that differ are shown in their own stage"


def test_marks_that_can_be_reopened_and_scripts_of_others_wait(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=1, unrevealed_percent=0)
    mark = sealed(claimed(problem, bob), bob, *SEVEN)
    suggested(mark, NOTHING)
    assert triage_look(user=bob) == 0
    assert not Reveal.objects.exists()


def test_scripts_without_a_reveal_are_not_in_the_list(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=1, unrevealed_percent=100)
    suggested(past_grace(sealed(claimed(problem, bob), bob, *SEVEN)), BODY)
    assert triage_look(user=bob) == 0


def test_nothing_found_is_cleared_in_one_stroke_and_nothing_else_is(
    marks: list[Mark], bob: User, client_for: ClientFor
) -> None:
    triage_look(user=bob)
    page = client_for(bob).post(reverse("marks:triage_keep"), follow=True).content.decode()
    assert "You stayed with 2 marks." in page
    states = dict(Mark.objects.values_list("pk", "state"))
    assert [states[mark.pk] == MarkState.CONFIRMED for mark in marks] == [False, True, True, False, False]
    assert triage_clear(user=bob) == (0, [])


def test_a_script_that_no_grader_read_is_never_cleared(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=0, unrevealed_percent=0)
    script_scanned(problem, "Ada")
    mark = past_grace(sealed(claimed(problem, bob), bob, ("points", {"points": 7})))
    suggested(mark, NOTHING)
    assert (triage_of(bob).silent, triage_of(bob).unseen) == (1, []), "there is nothing to look at"
    assert (triage_look(user=bob), triage_clear(user=bob)) == (0, (0, []))
    stage_show(mark=mark, stage=Stage.LOCATIONS)
    assert groups(bob) == {"unread": 1}
    assert triage_clear(user=bob) == (0, [])
    mark.refresh_from_db()
    assert mark.state == MarkState.SEALED


def test_marks_whose_first_stages_were_opened_one_by_one_are_looked_at_to_their_end(marks: list[Mark], bob: User) -> None:
    for mark in (marks[1], marks[3]):
        stage_show(mark=mark, stage=Stage.LOCATIONS)
        stage_show(mark=mark, stage=Stage.FINDINGS)
    assert triage_clear(user=bob) == (0, []), "nothing is cleared unseen"
    triage_look(user=bob)
    assert groups(bob) == {"new": 1, "decide": 1, "unread": 1, "nothing": 2}
    stage_show(mark=marks[3], stage=Stage.ITEMS)
    assert [row.mark for row in triage_of(bob).of(Group.DIFFERS)] == [marks[3]]


def test_an_answered_script_waits_for_its_decision_and_the_next_one_is_offered(
    marks: list[Mark], bob: User, client_for: ClientFor
) -> None:
    triage_look(user=bob)
    first = marks[0]
    assert triage_next(bob) == first
    stage_show(mark=first, stage=Stage.FINDINGS)
    for one, _ in findings_shown(first):
        finding_answer(mark=first, suggestion=one.suggestion, finding=one.finding.id, is_accepted=False)
    assert first in [row.mark for row in triage_of(bob).of(Group.DECIDE)]
    stage_show(mark=first, stage=Stage.ITEMS)
    assert first in [row.mark for row in triage_of(bob).of(Group.DIFFERS)], "the grader expects 3.4 of 7"
    address = reverse("marks:reveal_decide", kwargs={"task_id": first.task.public_id})
    page = client_for(bob).post(address, {"decision": "keep"}, follow=True).content.decode()
    assert f"Next: paper {marks[3].task.case.version.submission.paper.number}" in page


def test_the_list_takes_few_queries(
    marks: list[Mark], bob: User, django_assert_max_num_queries: Callable[[int], object]
) -> None:
    triage_look(user=bob)
    with django_assert_max_num_queries(6):  # type: ignore[attr-defined]
        triage_of(bob)
