"""The layout of the lemma graph, run in Node."""

from typing import Any

import pytest

from tests.node import facts


@pytest.fixture(scope="module")
def layout() -> Any:
    return facts("check_layout.mjs")


@pytest.mark.parametrize("size", ["50", "200", "1000", "5000"])
def test_old_nodes_never_move_while_the_graph_grows(layout: Any, size: str) -> None:
    assert layout["sizes"][size]["live"]["moved"] == 0


@pytest.mark.parametrize("size", ["50", "200", "1000", "5000"])
@pytest.mark.parametrize("when", ["live", "tidied"])
def test_nodes_do_not_overlap_and_edges_run_downwards(layout: Any, size: str, when: str) -> None:
    assert layout["sizes"][size][when]["overlaps"] == 0
    assert layout["sizes"][size][when]["upward"] == 0


@pytest.mark.parametrize("size", ["50", "200", "1000", "5000"])
def test_tidying_twice_gives_the_same_layout(layout: Any, size: str) -> None:
    assert layout["sizes"][size]["stable"]


def test_the_layout_does_not_depend_on_batches_of_events(layout: Any) -> None:
    assert layout["same_by_batch"]


def test_cyclic_uses_are_laid_out(layout: Any) -> None:
    assert layout["circle"] == 4
    assert layout["circle_tidied"]


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
