"""Markdown sees every formula of the sample library as a formula, and display formulas as blocks of their own."""

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from tests.problems_sample.library import FILES


def blocks_and_leftovers(text: str) -> tuple[int, list[str]]:
    """Return the number of display formulas that are blocks, and the prose that still holds TeX."""
    tokens = MarkdownIt("commonmark").use(dollarmath_plugin, allow_space=False).parse(text)
    prose = [child.content for token in tokens for child in token.children or [] if child.type == "text"]
    return sum(token.type == "math_block" for token in tokens), [part for part in prose if "$" in part or "\\" in part]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_display_formula_is_a_block(path: Path) -> None:
    body = path.read_text(encoding="utf-8").split("+++\n", 2)[2]
    blocks, leftovers = blocks_and_leftovers(body)
    assert 2 * blocks == len(re.findall(r"^\$\$$", body, flags=re.MULTILINE))
    assert leftovers == []


def test_a_display_formula_inside_a_paragraph_is_found() -> None:
    assert blocks_and_leftovers("We have\n$$\nx=1\n$$\nand more.") == (0, ["$$", "$$"])
