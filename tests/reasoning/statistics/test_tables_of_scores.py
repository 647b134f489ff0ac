"""A table of scores is checked once, is frozen, and two tables are paired by problem and by seed."""

import numpy as np
import pytest

from apps.reasoning.statistics.scores import Scores, aligned
from tests.reasoning.statistics.tables import NAN, scores


def test_points_become_shares_of_their_totals_and_unscored_cells_stay_unscored() -> None:
    table = scores([[7, NAN], [20, 10]], total=[7, 20])
    np.testing.assert_array_equal(table.shares, [[1, NAN], [1, 0.5]])
    assert table.scored.tolist() == [1, 2]


def test_amounts_have_no_total_and_no_upper_end() -> None:
    table = scores([[12_000.0, 30_000.0]], total=None)
    np.testing.assert_array_equal(table.shares, table.cells)


@pytest.mark.parametrize(
    ("problems", "cells", "total", "seeds", "reason"),
    [
        (["a"], [[1.0], [0.0]], 1, (), "1 problems need a table with one row each"),
        (["a", "a"], [[1.0], [0.0]], 1, (), "named twice"),
        (["a"], [[8.0]], 7, (), "above its total"),
        (["a"], [[-1.0]], 7, (), "below 0"),
        (["a"], [[float("inf")]], None, (), "infinite"),
        (["a"], [[0.0]], 0, (), "a total must be above 0"),
        (["a"], [[0.0]], float("nan"), (), "a total must be above 0"),
        (["a"], [[0.0, 1.0]], 1, (1,), "1 seeds do not fit 2 repeats"),
        (["a"], [[0.0, 1.0]], 1, (1, 1), "named twice"),
    ],
)
def test_a_table_that_cannot_be_true_is_refused(
    problems: list[str], cells: list[list[float]], total: float | None, seeds: tuple[int, ...], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        Scores.of(problems, cells, total=total, seeds=seeds)


def test_a_table_cannot_be_changed_afterwards() -> None:
    given = np.array([[1.0, 0.0]])
    table = scores(given)
    given[0, 0] = 0
    assert table.cells[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        table.cells[0, 0] = 0


def test_two_tables_are_aligned_on_common_problems_in_the_order_of_the_first() -> None:
    left = Scores.of(["a", "b", "c"], [[0.1], [0.2], [0.3]])
    right = Scores.of(["c", "x", "a"], [[3.0, 3.0], [9.0, 9.0], [1.0, 1.0]], total=10)
    one, other = aligned(left, right)
    assert one.problems == other.problems == ("a", "c")
    assert one.cells.tolist() == [[0.1], [0.3]]
    assert other.cells.tolist() == [[1, 1], [3, 3]]


def test_pairing_by_seed_keeps_common_seeds_and_masks_what_one_side_lacks() -> None:
    left = scores([[1, NAN, 0]], seeds=(1, 2, 3))
    right = scores([[1, 0, 1]], seeds=(3, 1, 2))
    one, other = aligned(left, right, by_seed=True)
    np.testing.assert_array_equal(one.cells, [[1, NAN, 0]])
    np.testing.assert_array_equal(other.cells, [[0, NAN, 1]])
    assert one.seeds == other.seeds == (1, 2, 3)
    with pytest.raises(ValueError, match="needs the seeds of both"):
        aligned(left, scores([[1]]), by_seed=True)


def test_problems_can_be_chosen_by_name_and_by_scored_repeats() -> None:
    table = scores([[1, NAN], [0, 1], [NAN, NAN]])
    assert table.with_scored(2).problems == ("p1",)
    assert table.on(["p2", "p0"]).problems == ("p2", "p0")
    with pytest.raises(ValueError, match="there are no scores on p9"):
        table.on(["p9"])
