"""The diff of proof versions, run in Node."""

from typing import Any

import pytest

from tests.node import facts


@pytest.fixture(scope="module")
def diff() -> Any:
    return facts("check_diff.mjs")


def test_the_pieces_of_a_text_are_the_text(diff: Any) -> None:
    assert diff["whole"]
    assert diff["formulas"][:4] == ["$a \\le b$", "$$\\sum_{i=1}^n i$$", "\\(x\\)", "\\[y\\]"]


def test_a_formula_changes_as_one_word(diff: Any) -> None:
    assert diff["formula_is_one_word"] == [["same", "so "], ["gone", "$a+b=c$"], ["new", "$a+b=d$"], ["same", " holds"]]


def test_spaces_in_a_formula_do_not_count_as_changes(diff: Any) -> None:
    assert diff["spaces_in_formulas"] == [["same", "$a + b$"]]


def test_a_reworded_phrase_is_one_change(diff: Any) -> None:
    assert diff["phrase"][0] == ["gone", "Hence "]
    assert diff["phrase"][-1] == ["same", "the product works."]


def test_nothing_of_the_old_text_is_lost(diff: Any) -> None:
    assert diff["old_kept"]
    assert diff["same"] == [["same", "x y"]]
    assert diff["empty"] == [["new", "new"]]


def test_long_texts_with_little_in_common_are_compared_by_paragraphs(diff: Any) -> None:
    assert diff["far_apart"] == [["same", False], ["gone", True], ["new", True]]
    assert diff["far_apart_is_whole"]
