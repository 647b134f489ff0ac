"""Grader cards count suggestions in contests: on settled scripts, for who organises or captains; the ledger keeps it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestCoach, ContestProblem
from apps.grading.asked_with import digest_of, settings_words
from apps.grading.cards import cards_for
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


def said(case: MarkingCase, grader: str = SINGLE, points: float | None = 5, **more: Any) -> None:
    given = {"unscored": "it is no JSON"} if points is None else {"proposed": points}
    suggested(case, points, None, grader, **{"cost": COST, "scale": "7", **given, **ASKED, **more})


@pytest.fixture
def problem(bob: User) -> ContestProblem:
    problem = settled_contest(bob, marker("marga"), scripts=4)
    for number, case in enumerate(problem.cases.order_by("pk")):
        said(case, points=[5, 7, None, 3][number])
    return problem


def test_a_card_counts_what_was_suggested_on_settled_scripts(bob: User, problem: ContestProblem) -> None:
    (card,) = cards_for(bob)
    assert (card.workflow, card.models, len(card.gradings), card.unscored) == ("single_turn", "small", 4, 1)
    assert (card.calls, card.tokens, card.seconds) == (3, 120, 6)
    assert isinstance(card.consistency, Unscored), "a question is asked once: nothing repeats"
    MarkingCase.objects.filter(pk=problem.cases.order_by("pk")[0].pk).update(state=CaseState.DISPUTED)
    (card,) = cards_for(bob)
    assert len(card.gradings) == 3


def test_runs_and_suggestions_asked_alike_are_one_card_and_juries_stand_apart(bob: User, problem: ContestProblem) -> None:
    run_of(bob, make_problem("Another"), "a", 7.0)
    case = problem.cases.order_by("pk")[0]
    said(case, JURY)
    said(case, "workflow:jury@big", settings="", prompts="")
    cards = {card.models: card for card in cards_for(bob)}
    assert len(cards["small"].gradings) == 5
    assert len(cards["judge_a: small, judge_b: big, judge_c: small"].gradings) == 1
    assert "settings not kept" in {card.settings for card in cards.values()}


def test_costs_from_before_preparing_was_counted_apart_stand_out_of_the_mean_and_the_card_says_so(
    bob: User, problem: ContestProblem, client_for: ClientFor
) -> None:
    (card,) = cards_for(bob)
    assert (card.mixed, card.calls) == (4, 3)
    address = reverse("grading:agreement_cards")
    assert "with what was prepared, which was not counted apart" in client_for(bob).get(address).content.decode()
    cost = COST | {"calls": 5, "prepared": {"calls": 3, "prompt_tokens": 80, "completion_tokens": 10}}
    case = problem.cases.order_by("pk")[0]
    said(case, cost=cost)
    (card,) = cards_for(bob)
    assert (len(card.gradings), card.mixed, card.preparing) == (5, 4, 1)
    assert (card.calls, card.tokens, card.prepared.calls, card.prepared.tokens) == (2, 30, 3, 90)
    page = client_for(bob).get(address).content.decode()
    assert "over 1 of them, for which what was prepared was counted apart" in page
    listed = client_for(bob).get(f"{address}?card={card.key}").content.decode()
    assert listed.count("with what was prepared") == 4


def test_others_meet_none_of_it(bob: User, alice: User, charlie: User, problem: ContestProblem) -> None:
    for stranger in (alice, charlie, marker("marga")):
        assert cards_for(stranger) == []
    captain = marker("marga")
    ContestProblem.objects.filter(pk=problem.pk).update(captain=captain)
    ContestCoach.objects.create(contest=problem.contest, person=captain)
    assert [len(card.gradings) for card in cards_for(captain)] == [4]


def test_who_still_marks_the_problem_meets_none_of_it(bob: User, problem: ContestProblem) -> None:
    lease = timezone.now() + timedelta(hours=1)
    MarkingTask.objects.create(case=problem.cases.order_by("pk")[0], slot=Slot.AGAIN, assignee=bob, lease_until=lease)
    assert cards_for(bob) == []


def test_who_lists_the_gradings_stands_in_the_ledger_and_the_card_alone_tells_of_no_script(
    bob: User, problem: ContestProblem, client_for: ClientFor
) -> None:
    client, address = client_for(bob), reverse("grading:agreement_cards")
    page = client.get(address).content.decode()
    assert "as many suggestions on settled scripts" in page
    assert not Reveal.objects.filter(person=bob).exists()
    (card,) = cards_for(bob)
    for _ in range(2):
        listed = client.get(f"{address}?card={card.key}").content.decode()
    assert "4 gradings" in listed
    assert "suggested in a contest" in listed
    kept = Reveal.objects.filter(person=bob, trigger="cards")
    assert kept.count() == kept.filter(kind=RevealKind.ITEMS, suggestion=None).count() == 4
    unscored = client.get(f"{address}?card={card.key}&unscored=1").content.decode()
    assert "it is no JSON" in unscored


def test_what_has_no_cost_or_is_no_workflow_is_on_no_card(bob: User, problem: ContestProblem) -> None:
    case = problem.cases.order_by("pk")[0]
    for grader, more in (("workflow:single_turn@small", {"cost": None}), ("workflow:gone@small", {}), ("computational", {})):
        suggested(case, 3, None, grader, **{"cost": COST, **more})
    assert [len(card.gradings) for card in cards_for(bob)] == [4]
