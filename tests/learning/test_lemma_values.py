"""Values of lemmas: computed by hand, on cycles, and bounded on any graph."""

from math import log, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.lemma_values import Edge, LemmaValues, Node, ProofPath, graph_values, lemma_values

FULL = log(251)
WORKED = [
    ProofPath(FULL, derived=frozenset({("a", "b")}), used=frozenset({"b"})),
    ProofPath(log(3.5), derived=frozenset({("a", "c")}), used=frozenset({"c"})),
    ProofPath(0.0, used=frozenset({"d"})),
]


def test_the_worked_example_has_the_values_computed_by_hand() -> None:
    values = lemma_values(WORKED)
    assert values.of == pytest.approx({"a": 3.389108, "b": 5.525453, "c": 1.252763, "d": 0.0}, abs=1e-6)
    assert values.problem == pytest.approx(2.259405, abs=1e-6) == pytest.approx(sum(path.reward for path in WORKED) / 3)


def test_the_order_of_the_trajectories_does_not_matter() -> None:
    assert lemma_values(WORKED[::-1]).of == pytest.approx(dict(lemma_values(WORKED).of))


def test_a_cycle_with_one_exit_has_the_value_of_its_exit() -> None:
    found = graph_values({("x", "y"): 1, ("y", "x"): 1, ("y", "z"): 1}, {"z": FULL})
    assert found["x"] == pytest.approx(5.525453, abs=1e-6)
    assert found["y"] == pytest.approx(5.525453, abs=1e-6)


def test_a_cycle_without_an_exit_has_value_0() -> None:
    assert graph_values({("x", "y"): 1, ("y", "x"): 1}, {"z": FULL}) == {"x": 0.0, "y": 0.0}


def test_a_second_failing_exit_lowers_the_cycle() -> None:
    found = graph_values({("x", "y"): 1, ("y", "x"): 1, ("y", "z"): 1, ("x", "w"): 1}, {"z": FULL, "w": 0.0})
    assert found["x"] == pytest.approx(1.841818, abs=1e-6)
    assert found["y"] == pytest.approx(3.683636, abs=1e-6)


def test_a_self_loop_does_not_change_a_lemmas_value() -> None:
    assert graph_values({("x", "x"): 9, ("x", "z"): 1, ("x", "w"): 1}, {"z": 1.0, "w": 0.0})["x"] == 0.5


def test_failures_count_except_in_algorithm_1_as_written() -> None:
    paths = [ProofPath(FULL, used=frozenset({"l"})), *[ProofPath(0.0, used=frozenset({"l"}))] * 15]
    assert lemma_values(paths).of["l"] == pytest.approx(0.3453408, abs=1e-6)
    assert lemma_values(paths, terminals="nonzero").of["l"] == pytest.approx(FULL)


def test_frequent_edges_weigh_more_unless_weights_are_uniform() -> None:
    paths = [ProofPath(1.0, derived=frozenset({("a", "b")}), used=frozenset({"b"}))] * 3
    paths.append(ProofPath(0.0, derived=frozenset({("a", "c")}), used=frozenset({"c"})))
    assert lemma_values(paths).of["a"] == 0.75
    assert lemma_values(paths, weighting="uniform").of["a"] == 0.5


def test_an_unused_lemma_has_value_0_and_lowers_its_parent() -> None:
    values = lemma_values([ProofPath(1.0, derived=frozenset({("a", "b"), ("a", "c")}), used=frozenset({"b"}))])
    assert values == LemmaValues({"a": 0.5, "b": 1.0, "c": 0.0}, 0.5)


def test_trajectories_without_lemmas_give_the_problem_its_mean() -> None:
    assert lemma_values([ProofPath(1.0), ProofPath(0.0)]) == LemmaValues({}, 0.5)


def test_an_empty_graph_and_a_reward_of_nan_are_rejected() -> None:
    with pytest.raises(NotLearnable, match="empty"):
        lemma_values([])
    with pytest.raises(NotLearnable, match="nan"):
        lemma_values([ProofPath(nan)])


EDGES: st.SearchStrategy[dict[Edge, int]] = st.dictionaries(
    st.tuples(st.integers(0, 7), st.integers(0, 10)), st.integers(1, 5), max_size=40
)


@given(EDGES, st.lists(st.floats(0, 6), min_size=3, max_size=3))
def test_on_any_graph_values_are_bounded_and_satisfy_the_equations(edges: dict[Edge, int], rewards: list[float]) -> None:
    ends: dict[Node, float] = {8: rewards[0], 9: rewards[1], 10: rewards[2]}
    values = graph_values(edges, ends)
    known = values | ends
    for node, value in values.items():
        assert -1e-9 <= value <= max(rewards) + 1e-9
        after = {target: seen for (source, target), seen in edges.items() if source == node != target}
        mean = sum(seen * known[target] for target, seen in after.items()) / sum(after.values()) if after else 0.0
        assert value == pytest.approx(mean, abs=1e-6)
