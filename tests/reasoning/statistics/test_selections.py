"""cons@k and best@n are exact averages over all subsets, with ties shared."""

from collections import Counter
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.reasoning.statistics.intervals import Undefined
from apps.reasoning.statistics.metrics import Measure
from apps.reasoning.statistics.selections import NO_ANSWER, best_of_n, consensus_at_k
from tests.reasoning.statistics.tables import NAN, scores


def value(found: Measure | Undefined) -> float:
    assert isinstance(found, Measure)
    return found.value


def over_subsets(count: int, k: int, of: Callable[[tuple[int, ...]], float]) -> float:
    return float(np.mean([of(subset) for subset in combinations(range(count), k)]))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(NO_ANSWER, 3), min_size=1, max_size=9), st.data())
def test_consensus_is_the_mean_over_all_subsets(groups: list[int], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(groups)))
    right = {0: 1.0, 1: 0.0, 2: 0.25, 3: 0.0, NO_ANSWER: 0.0}

    def majority(subset: tuple[int, ...]) -> float:
        votes = Counter(groups[one] for one in subset if groups[one] != NO_ANSWER)
        winners = [name for name, count in votes.items() if count == max(votes.values())]
        return float(np.mean([right[name] for name in winners])) if winners else 0.0

    table = scores([[right[name] for name in groups]])
    assert value(consensus_at_k(table, np.array([groups]), k)) == pytest.approx(over_subsets(len(groups), k, majority))


def test_two_tied_answers_share_the_score() -> None:
    assert value(consensus_at_k(scores([[1, 1, 0, 0]]), np.array([[5, 5, 8, 8]]), 4)) == 0.5


def test_repeats_without_an_answer_have_no_vote() -> None:
    groups = np.array([[NO_ANSWER, NO_ANSWER, NO_ANSWER, 2]])
    assert value(consensus_at_k(scores([[0, 0, 0, 1]]), groups, 4)) == 1
    assert value(consensus_at_k(scores([[0, 0, 0, 1]]), groups, 1)) == 0.25


def test_an_unscored_repeat_takes_no_part_in_the_consensus() -> None:
    table, groups = scores([[1, NAN, NAN, 0, 1]]), np.array([[1, 2, 2, 2, 1]])
    assert value(consensus_at_k(table, groups, 3)) == 1
    assert consensus_at_k(table, groups, 4) == Undefined(reason="1 of 1 problems has fewer than 4 scored repeats")


def test_consensus_over_many_repeats_stays_a_share() -> None:
    groups = np.random.default_rng(0).integers(0, 6, (3, 128))
    found = value(consensus_at_k(scores((groups == 0) * 1.0), groups, 64))
    assert 0 <= found <= 1


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 3)), min_size=1, max_size=8), st.data())
def test_the_best_of_n_is_the_mean_over_all_subsets(cells: list[tuple[float, int]], data: st.DataObject) -> None:
    n = data.draw(st.integers(1, len(cells)))

    def best(subset: tuple[int, ...]) -> float:
        highest = max(cells[one][1] for one in subset)
        return float(np.mean([cells[one][0] for one in subset if cells[one][1] == highest]))

    table, selector = scores([[score for score, _ in cells]]), np.array([[float(by) for _, by in cells]])
    assert value(best_of_n(table, selector, n)) == pytest.approx(over_subsets(len(cells), n, best))


def test_a_repeat_that_the_selector_did_not_score_is_no_candidate() -> None:
    table = scores([[1, 0, 1]])
    assert value(best_of_n(table, np.array([[NAN, 3.0, 1.0]]), 2)) == 0
    assert best_of_n(table, np.array([[NAN, 3.0, 1.0]]), 3) == Undefined(
        reason="1 of 1 problems has fewer than 3 scored repeats"
    )


def test_tables_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        best_of_n(scores([[1, 0]]), np.array([[1.0]]), 1)
    with pytest.raises(ValueError, match="does not fit"):
        consensus_at_k(scores([[1, 0]]), np.array([[1]]), 1)
