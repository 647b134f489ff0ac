"""People join and part lemmas of runs that they may steer, and withdraw it."""

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from apps.accounts.models import User
from apps.lemmas.pairs.models import LemmaPair
from apps.lemmas.pairs.services import AT_MOST, pair_withdraw, pairs_decide
from tests.lemmas.factory import make_story_run

pytestmark = pytest.mark.django_db


def test_each_pair_of_the_chosen_lemmas_is_one_row_with_its_author(alice: User) -> None:
    one, other = make_story_run(), make_story_run()
    assert pairs_decide(user=alice, lemmas=[(other, "s0.2"), (one, "s0.2"), (one, "s0.1")], is_same=True) == 3
    rows = LemmaPair.objects.order_by("pk")
    assert [(row.first_run, row.first_lemma, row.second_run, row.second_lemma) for row in rows] == [
        (one, "s0.1", one, "s0.2"), (one, "s0.1", other, "s0.2"), (one, "s0.2", other, "s0.2"),
    ]  # fmt: skip
    assert {(row.is_same, row.by) for row in rows} == {(True, alice)}


def test_a_later_decision_on_a_pair_replaces_the_earlier_one(alice: User, dana: User) -> None:
    one, other = make_story_run(), make_story_run()
    pairs_decide(user=alice, lemmas=[(one, "s0.2"), (other, "s0.2")], is_same=True)
    pairs_decide(user=dana, lemmas=[(other, "s0.2"), (one, "s0.2")], is_same=False)
    assert list(LemmaPair.objects.values_list("is_same", "by")) == [(False, dana.pk)]


def test_who_may_not_steer_one_of_the_runs_decides_nothing(alice: User, bob: User) -> None:
    own, other = make_story_run(), make_story_run()
    own.owner = bob
    own.save()
    chosen = [(own, "s0.2"), (other, "s0.2")]
    with pytest.raises(PermissionDenied, match="only of runs that you may steer"):
        pairs_decide(user=bob, lemmas=chosen, is_same=True)
    assert not LemmaPair.objects.exists()
    other.owner = bob
    other.save()
    assert pairs_decide(user=bob, lemmas=chosen, is_same=True) == 1


def test_one_lemma_too_many_lemmas_and_unknown_lemmas_are_refused_with_what_to_do(alice: User) -> None:
    run = make_story_run()
    with pytest.raises(ValidationError, match="at least two lemmas"):
        pairs_decide(user=alice, lemmas=[(run, "s0.2"), (run, "s0.2")], is_same=True)
    with pytest.raises(ValidationError, match=f"You chose {AT_MOST + 1} lemmas. Choose at most {AT_MOST}"):
        pairs_decide(user=alice, lemmas=[(run, f"s0.{number}") for number in range(AT_MOST + 1)], is_same=True)
    with pytest.raises(ValidationError, match=r"has no lemma s9\.9\. Load the page again"):
        pairs_decide(user=alice, lemmas=[(run, "s0.2"), (run, "s9.9")], is_same=True)
    assert not LemmaPair.objects.exists()


def test_a_decision_is_withdrawn_by_who_may_decide_and_by_no_other(alice: User, bob: User) -> None:
    one, other = make_story_run(), make_story_run()
    pairs_decide(user=alice, lemmas=[(one, "s0.2"), (other, "s0.2")], is_same=False)
    pair = LemmaPair.objects.get()
    with pytest.raises(PermissionDenied):
        pair_withdraw(user=bob, pair=pair)
    pair_withdraw(user=alice, pair=pair)
    assert not LemmaPair.objects.exists()
