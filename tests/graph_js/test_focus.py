"""The nodes that each focus of the lemma graph shows, run in Node."""

from typing import Any

import pytest

from tests.node import facts


@pytest.fixture(scope="module")
def focus() -> Any:
    return facts("check_focus.mjs")


def test_each_focus_shows_its_part(focus: Any) -> None:
    assert focus["proof"] == ["a", "b", "c", "p"]
    assert focus["frontier"] == ["d"]
    assert focus["round"] == ["c", "d"]
    assert focus["rollout"] == ["b", "d"]
    assert focus["recent"] == ["a", "b", "c", "d", "e", "p"]
    assert focus["ancestors"] == ["a", "b", "c"]
    assert focus["descendants"] == ["a", "b", "c", "d", "p"]


def test_depth_limits_a_focus(focus: Any) -> None:
    assert focus["near"] == ["b", "c"]


@pytest.mark.parametrize("name", ["all", "no_node", "unknown", "no_proof"])
def test_a_focus_on_nothing_shows_everything(focus: Any, name: str) -> None:
    assert focus[name] is None


def test_neighbours_are_used_and_using_lemmas(focus: Any) -> None:
    assert focus["next"] == {"uses": ["a"], "usedBy": ["c"]}
