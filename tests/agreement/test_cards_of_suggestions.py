"""Grader cards include suggestions on settled scripts, for organisers and captains, with disclosures in the ledger."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.agreement.cards import cards_for
from apps.contests.models import ContestCoach, ContestProblem
from apps.graders.planning.settings import digest_of, settings_words
from apps.marks.models import CaseState, MarkingCase, MarkingTask, Reveal, RevealKind, Slot
from apps.reasoning.domain.values import Unscored
from tests.agreement.factory import settled_contest, suggested
from tests.agreement.test_buckets_sets_and_cards import run_of
from tests.marks.factory import marker
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
COST = {"calls": 3, "prompt_tokens": 100, "completion_tokens": 20, "seconds": 6.0, "reused": 0}
ASKED = {"prompts": digest_of({"grader": "p"}), "settings": settings_words("single_turn", {}, {"grader": {"alias": "small"}})}
SINGLE, JURY = "workflow:single_turn@small", "workflow:jury+neutral@small,big,small"


def suggest(case: MarkingCase, grader: str = SINGLE, points: float | None = 5, **more: Any) -> None:
    given = {"unscored": "it is no JSON"} if points is None else {"proposed": points}
    suggested(case, points, None, grader, **{"cost": COST, "scale": "7", **given, **ASKED, **more})


@pytest.fixture
def problem(bob: User) -> ContestProblem:
    problem = settled_contest(bob, marker("marga"), scripts=4)
    for number, case in enumerate(problem.cases.order_by("pk")):
        suggest(case, points=[5, 7, None, 3][number])
    return problem


def test_a_card_counts_suggestions_on_settled_scripts(bob: User, problem: ContestProblem) -> None:
    (card,) = cards_for(bob)
    assert (card.workflow, card.models, len(card.gradings), card.unscored) == ("single_turn", "small", 4, 1)
    assert (card.calls, card.tokens, card.seconds) == (3, 120, 6)
    assert isinstance(card.consistency, Unscored), "each script has one suggestion, so nothing repeats"
    MarkingCase.objects.filter(pk=problem.cases.order_by("pk")[0].pk).update(state=CaseState.DISPUTED)
    (card,) = cards_for(bob)
    assert len(card.gradings) == 3


def test_runs_and_suggestions_with_the_same_settings_share_a_card_and_juries_have_their_own(
    bob: User, problem: ContestProblem
) -> None:
    run_of(bob, make_problem("Another"), "a", 7.0)
    case = problem.cases.order_by("pk")[0]
    suggest(case, JURY)
    suggest(case, "workflow:jury@big", settings="", prompts="")
    cards = {card.models: card for card in cards_for(bob)}
    assert len(cards["small"].gradings) == 5
    assert len(cards["judge_a: small, judge_b: big, judge_c: small"].gradings) == 1
    assert "settings not kept" in {card.settings for card in cards.values()}


def test_costs_that_include_preparation_are_excluded_from_the_mean_if_possible_and_marked_as_such(
    bob: User, problem: ContestProblem, client_for: ClientFor
) -> None:
    (card,) = cards_for(bob)
    assert (card.mixed, card.calls) == (4, 3)
    address = reverse("agreement:cards")
    assert "including preparation, which was not counted separately" in client_for(bob).get(address).content.decode()
    cost = COST | {"calls": 5, "prepared": {"calls": 3, "prompt_tokens": 80, "completion_tokens": 10}}
    case = problem.cases.order_by("pk")[0]
    suggest(case, cost=cost)
    (card,) = cards_for(bob)
    assert (len(card.gradings), card.mixed, card.preparing) == (5, 4, 1)
    assert (card.calls, card.tokens, card.prepared.calls, card.prepared.tokens) == (2, 30, 3, 90)
    page = client_for(bob).get(address).content.decode()
    assert "over the 1 with separately counted preparation" in page
    listed = client_for(bob).get(f"{address}?card={card.key}").content.decode()
    assert listed.count("including preparation") == 4


def test_others_see_no_suggestions_on_cards(bob: User, alice: User, charlie: User, problem: ContestProblem) -> None:
    for stranger in (alice, charlie, marker("marga")):
        assert cards_for(stranger) == []
    captain = marker("marga")
    ContestProblem.objects.filter(pk=problem.pk).update(captain=captain)
    ContestCoach.objects.create(contest=problem.contest, person=captain)
    assert [len(card.gradings) for card in cards_for(captain)] == [4]


def test_an_organiser_who_still_marks_the_problem_sees_no_suggestions_on_cards(bob: User, problem: ContestProblem) -> None:
    lease = timezone.now() + timedelta(hours=1)
    MarkingTask.objects.create(case=problem.cases.order_by("pk")[0], slot=Slot.AGAIN, assignee=bob, lease_until=lease)
    assert cards_for(bob) == []


def test_listing_the_gradings_is_recorded_in_the_ledger_and_opening_the_cards_is_not(
    bob: User, problem: ContestProblem, client_for: ClientFor
) -> None:
    client, address = client_for(bob), reverse("agreement:cards")
    page = client.get(address).content.decode()
    assert "suggestions on settled scripts of contests that you organise" in page
    assert not Reveal.objects.filter(person=bob).exists()
    (card,) = cards_for(bob)
    for _ in range(2):
        listed = client.get(f"{address}?card={card.key}").content.decode()
    assert "4 gradings" in listed
    assert "suggestion in a contest" in listed
    kept = Reveal.objects.filter(person=bob, trigger="cards")
    assert kept.count() == kept.filter(kind=RevealKind.ITEMS, suggestion=None).count() == 4
    unscored = client.get(f"{address}?card={card.key}&unscored=1").content.decode()
    assert "it is no JSON" in unscored


def test_suggestions_without_cost_or_by_other_graders_are_on_no_card(bob: User, problem: ContestProblem) -> None:
    case = problem.cases.order_by("pk")[0]
    for grader, more in (("workflow:single_turn@small", {"cost": None}), ("workflow:gone@small", {}), ("computational", {})):
        suggested(case, 3, None, grader, **{"cost": COST, **more})
    assert [len(card.gradings) for card in cards_for(bob)] == [4]
