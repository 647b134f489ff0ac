"""The layout of the lemma graph, run in Node."""

from typing import Any

import pytest

from tests.node import facts


@pytest.fixture(scope="module")
def layout() -> Any:
    return facts("check_layout.mjs")


SIZES = pytest.mark.parametrize("size", ["50", "200", "1000", "5000"])


@SIZES
def test_old_nodes_never_move_while_the_graph_grows(layout: Any, size: str) -> None:
    assert layout["sizes"][size]["moved"] == 0


@SIZES
def test_nodes_do_not_overlap_and_edges_run_downwards(layout: Any, size: str) -> None:
    found = layout["sizes"][size]
    assert (found["overlaps"], found["upward"], found["placed"]) == (0, 0, int(size) + 1)


@SIZES
def test_no_line_runs_through_a_node(layout: Any, size: str) -> None:
    assert layout["sizes"][size]["blocked"] == 0


@pytest.mark.parametrize(("size", "most"), [("50", 8), ("5000", 48)])
def test_a_row_is_about_as_wide_as_a_screen(layout: Any, size: str, most: int) -> None:
    assert layout["sizes"][size]["widest"] <= most


@pytest.mark.parametrize("size", ["20", "60"])
def test_a_layout_by_graphviz_is_whole_and_grows_without_moving(layout: Any, size: str) -> None:
    found = layout["arranged"][size]
    assert (found["overlaps"], found["upward"], found["blocked"], found["placed"]) == (0, 0, 0, int(size) + 1)
    assert found["moved"] == 0
    assert found["later"] == {"overlaps": 0, "upward": 0, "placed": int(size) + 13}


def test_the_layout_does_not_depend_on_batches_of_events(layout: Any) -> None:
    assert layout["same_by_batch"]


def test_cyclic_uses_are_laid_out(layout: Any) -> None:
    assert layout["circle"] == 4


def test_overlapping_neighbours_move_as_little_as_possible(layout: Any) -> None:
    assert layout["separated"] == [-10, 0, 10, 100]
    assert layout["empty"] == {"left": 0, "top": 0, "right": 0, "bottom": 0}


def test_slightly_later_uses_give_the_same_layout_as_a_reload(layout: Any) -> None:
    soon = layout["late"]["soon"]
    assert soon["moved"] > 0
    assert soon["onlyYoung"]
    assert soon["same"]
    assert (soon["overlaps"], soon["upward"], soon["rows"]) == (0, 0, 61)


def test_late_uses_move_nothing(layout: Any) -> None:
    assert layout["late"]["never"]["moved"] == 0
