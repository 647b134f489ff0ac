"""Select, save, reload: the same source substring, or an honest loss."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.reasoning.texts.anchors import CONTEXT, Anchor, AnchorLost, anchor_make, anchor_span
from apps.reasoning.texts.formulas import formulas
from apps.reasoning.texts.source import PlaceWrong, source_of
from tests.texts.made import ANYTHING, RAW, examples


@st.composite
def selections(draw: st.DrawFn) -> tuple[str, int, int]:
    """A source that is not empty, and a selection in it."""
    source = source_of(draw(RAW | ANYTHING)) or "x"
    start = draw(st.integers(0, len(source) - 1))
    return source, start, draw(st.integers(start + 1, len(source)))


@examples(200)
@given(selections())
def test_select_save_reload_gives_the_same_substring(case: tuple[str, int, int]) -> None:
    source, start, end = case
    saved = anchor_make(source, start, end).model_dump_json()
    reloaded = source_of(json.loads(json.dumps(source)))
    anchor = Anchor.model_validate_json(saved)
    found_start, found_end = anchor_span(reloaded, anchor)
    assert reloaded[found_start:found_end] == anchor.quote
    assert source[start:end] in anchor.quote


@examples(150)
@given(selections())
def test_no_formula_and_no_letter_is_cut(case: tuple[str, int, int]) -> None:
    source, start, end = case
    anchor = anchor_make(source, start, end)
    assert anchor_make(source, anchor.start, anchor.end) == anchor
    for formula in formulas(source):
        assert not formula.start < anchor.start < formula.end
        assert not formula.start < anchor.end < formula.end


def test_a_formula_is_taken_whole_and_letters_keep_their_accents() -> None:
    source = "By $a^2+b^2$ and x\u0302\u0323y we see."
    assert anchor_make(source, 5, 7).quote == "$a^2+b^2$"
    assert anchor_make(source, 17, 18).quote == "x\u0302\u0323"
    assert anchor_make(source, 18, 21).quote == "x\u0302\u0323y"


def test_an_anchor_contains_the_text_around_it() -> None:
    source = "a" * 50 + "QUOTE" + "b" * 50
    anchor = anchor_make(source, 50, 55)
    assert (anchor.quote, anchor.prefix, anchor.suffix) == ("QUOTE", "a" * CONTEXT, "b" * CONTEXT)


def test_a_sentence_that_looks_alike_is_never_taken_instead() -> None:
    source = "Similarly, for $y$ the claim holds."
    anchor = anchor_make(source, 0, len(source))
    with pytest.raises(AnchorLost):
        anchor_span("Similarly, for $z$ the claim holds.", anchor)
    with pytest.raises(AnchorLost):
        anchor_span(" " + source, anchor)


@pytest.mark.parametrize(("start", "end"), [(0, 0), (2, 1), (-1, 2), (0, 99), (4, 4)])
def test_an_empty_or_outside_selection_is_refused(start: int, end: int) -> None:
    with pytest.raises(PlaceWrong):
        anchor_make("text", start, end)
