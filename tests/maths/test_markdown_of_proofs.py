"""What mathematicians write comes out as they mean it: displays, cases, prices, offsets."""

import re

import pytest

from apps.ui.markdown import render, render_inline
from tests.maths.corpus import WRITTEN, random_texts


def body(text: str) -> str:
    """The HTML without wrapper and offsets."""
    html = render(text).removeprefix('<div class="prose" hx-disable>').removesuffix("</div>")
    return re.sub(r' data-[se]="\d+"', "", html).strip()


def test_a_display_on_its_own_lines_is_a_block() -> None:
    assert body("$$\na\n+ b\n$$") == '<div class="math display">\na\n+ b\n</div>'


def test_a_display_keeps_the_full_stop_after_it() -> None:
    assert body("\\[ a \\].") == '<div class="math display"> a.</div>'


def test_a_display_inside_a_sentence_stays_in_its_paragraph() -> None:
    assert body("so \\[ a\n- b \\] holds") == '<p>so <span class="math display"> a\n- b </span> holds</p>'


def test_emphasis_does_not_reach_into_formulas() -> None:
    assert body("$a*b*c$ and $x_1 y_1$") == (
        '<p><span class="math inline">a*b*c</span> and <span class="math inline">x_1 y_1</span></p>'
    )


def test_prices_stay_prices() -> None:
    assert body("costs $5 and $6") == "<p>costs $5 and $6</p>"


def test_indented_lines_are_no_code() -> None:
    assert body("    Let $x$.") == '<p>Let <span class="math inline">x</span>.</p>'


def test_a_bar_in_a_formula_does_not_end_a_cell() -> None:
    assert '<td><span class="math inline">|x|</span></td>' in body("|a|\n|-|\n|$|x|$|")


def test_declared_operators_are_spelled_out() -> None:
    assert '<span class="math inline">\\operatorname{ord}_p</span>' in body("\\DeclareMathOperator{\\ord}{ord}\n\n$\\ord_p$")


@pytest.mark.parametrize(
    ("environment", "kin"), [("eqnarray", "align*"), ("multline", "gather*"), ("equation", "equation*"), ("align", "align*")]
)
def test_environments_that_katex_lacks_get_their_nearest_kin(environment: str, kin: str) -> None:
    html = body(f"\\begin{{{environment}}}a&=&b\\end{{{environment}}}")

    assert f"\\begin{{{kin}}}" in html
    assert f"\\end{{{kin}}}" in html


def test_titles_have_formulas_and_emphasis_but_no_links() -> None:
    assert render_inline("A *nice* $x<y$ [link](https://e.org)") == (
        'A <em>nice</em> <span class="math inline">x&lt;y</span> link'
    )


@pytest.mark.parametrize("text", [*WRITTEN, *random_texts(100, seed=9)])
def test_blocks_have_the_place_of_their_source(text: str) -> None:
    for start, end in re.findall(r'data-s="(\d+)" data-e="(\d+)"', render(text)):
        assert 0 <= int(start) <= int(end) <= len(text)


def test_offsets_count_code_points_and_end_before_the_line_break() -> None:
    text = "😀 one\r\n\r\ntwo $x\n+y$ 𝔽\n"
    spans = re.findall(r'<p data-s="(\d+)" data-e="(\d+)"', render(text))

    assert [text[int(start) : int(end)] for start, end in spans] == ["😀 one", "two $x\n+y$ 𝔽"]
