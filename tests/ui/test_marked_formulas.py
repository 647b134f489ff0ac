"""Marks apply to the formula at their place; there are no marks if text and page disagree."""

import re

import pytest

from apps.ui.markdown import render
from apps.ui.marking import render_marked


def marked(html: str) -> list[str]:
    return re.findall(r'class="math \w+ marked marked--\w+"[^>]*>([^<]*)<', html)


def test_the_formula_around_a_place_is_marked() -> None:
    text = "We have $1+1=2$ and $2+2=5$, so\n\n$$a = b \\le c$$\n\nas claimed."
    start = text.index("2+2=5")
    html = render_marked(text, [(start, start + 5, "refuted")])
    assert marked(html) == ["2+2=5"]
    display = text.index("b \\le c")
    assert marked(render_marked(text, [(display, display + 7, "survived")])) == ["a = b \\le c"]


def test_the_first_of_several_marks_counts() -> None:
    text = "Thus $a=b=c$."
    html = render_marked(text, [(8, 11, "refuted"), (6, 9, "survived")])
    assert "marked--refuted" in html
    assert "marked--survived" not in html


def test_a_mark_over_words_and_formulas_marks_the_formulas() -> None:
    text = "Here $91$ is prime."
    assert marked(render_marked(text, [(5, 18, "refuted")])) == ["91"]
    assert marked(render_marked(text, [(13, 18, "refuted")])) == []


def test_code_and_prices_do_not_shift_marks() -> None:
    text = "`$x$` costs $5 and $6, but $1=2$ is wrong."
    start = text.index("1=2")
    assert marked(render_marked(text, [(start, start + 3, "refuted")])) == ["1=2"]


def test_without_marks_nothing_changes_and_invalid_names_are_rejected() -> None:
    assert render_marked("Thus $a=b$.", []) == render("Thus $a=b$.")
    with pytest.raises(ValueError, match="letters"):
        render_marked("Thus $a=b$.", [(6, 7, 'x" onclick="y')])


def test_text_of_models_stays_inert() -> None:
    text = '<script>alert(1)</script> $a<b$ <span class="math inline">$x$</span>'
    html = render_marked(text, [(text.index("a<b"), text.index("a<b") + 3, "refuted")])
    assert "<script" not in html
    assert marked(html) == ["a&lt;b"]
