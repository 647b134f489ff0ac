"""Credit for rounds: the corrected form and the printed one, on the example computed by hand."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.lemma_values import lemma_values
from apps.recipes.mathematics.progress import (
    RoundAdvantages,
    RoundsTaken,
    progress_advantages,
    progress_advantages_as_printed,
)
from tests.learning.test_lemma_values import FULL, WORKED

GROUP = [
    RoundsTaken([["a"], ["b"]], FULL),
    RoundsTaken([["a"], ["c"]], log(3.5)),
    RoundsTaken([["d"], []], 0.0),
]
VALUES = lemma_values(WORKED).of


def values_of(found: list[RoundAdvantages]) -> list[tuple[float, ...]]:
    return [(*one.rounds, one.answer) for one in found]


def same(found: list[RoundAdvantages], expected: list[tuple[float, ...]]) -> None:
    for got, wanted in zip(values_of(found), expected, strict=True):
        assert got == pytest.approx(wanted, abs=1e-6)


def test_the_corrected_form_over_the_library() -> None:
    found = progress_advantages(GROUP, VALUES)
    same(found, [(1.1297029, 2.1363449, 0), (1.1297029, 0, -2.1363449), (-2.2594050, 0, 0)])
    assert [one.progressed for one in found] == [(True, True), (True, True), (True, False)]
    assert [one.total for one in found] == pytest.approx([3.2660478, -1.0066424, -2.2594053], abs=2e-6)


def test_the_corrected_form_over_the_rounds_own_lemmas() -> None:
    found = progress_advantages(GROUP, VALUES, scope="round")
    same(found, [(1.1297029, 2.1363449, 0), (1.1297029, -2.1363449, 0), (-2.2594050, 0, 0)])


def test_the_printed_form_penalises_the_round_that_finds_the_lemma() -> None:
    found = progress_advantages_as_printed(GROUP, VALUES)
    same(found, [(2.1363449, 0, 0), (-2.1363449, 0, 0), (0, 0, 0)])


def test_finding_a_known_lemma_is_not_progress() -> None:
    found = progress_advantages([RoundsTaken([["a"], ["a"]], 1.0)], {"a": 0.5})
    assert found[0] == RoundAdvantages((-0.5, 0.0), (True, False), 0.5)


def test_revisions_are_credited_with_their_change_of_the_reward() -> None:
    found = progress_advantages([RoundsTaken([], 1.0, revisions=(3.0, 2.5))], {})
    assert found[0].revisions == (2.0, -0.5)


def test_discount_and_step_reward_follow_the_equation() -> None:
    found = progress_advantages([RoundsTaken([["a"]], 1.0)], {"a": 0.8}, gamma=0.5, round_reward=0.25)
    assert found[0].rounds == pytest.approx((0.25 + 0.5 * 0.8 - 1.0,))


@given(
    st.lists(
        st.tuples(st.lists(st.lists(st.sampled_from("abcdef"), max_size=3), max_size=5), st.floats(0, 6)),
        min_size=1,
        max_size=6,
    ),
    st.lists(st.floats(0, 6), min_size=6, max_size=6),
    st.sampled_from(["library", "round"]),
)
def test_a_groups_advantages_cancel_and_rounds_without_progress_get_0(
    drawn: list[tuple[list[list[str]], float]], drawn_values: list[float], scope: str
) -> None:
    group = [RoundsTaken(rounds, reward) for rounds, reward in drawn]
    values = dict(zip("abcdef", drawn_values, strict=True))
    found = progress_advantages(group, values, scope="library" if scope == "library" else "round")
    assert sum(one.total for one in found) == pytest.approx(0, abs=1e-9)
    assert all(credit == 0 for one in found for credit, moved in zip(one.rounds, one.progressed, strict=True) if not moved)


def test_an_unknown_lemma_and_an_empty_group_are_rejected() -> None:
    with pytest.raises(NotLearnable, match="lemma b"):
        progress_advantages([RoundsTaken([["b"]], 1.0)], {})
    with pytest.raises(NotLearnable, match="at least one"):
        progress_advantages([], {})
