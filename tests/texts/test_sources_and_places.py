"""One unit for places: code points of the NFC source with LF line ends; JavaScript's units go there and back."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.reasoning.texts.source import PlaceWrong, from_utf16, source_of, to_utf16
from tests.texts.made import ANYTHING, RAW, examples


@examples(150)
@given(RAW | ANYTHING)
def test_a_source_is_its_own_source(raw: str) -> None:
    source = source_of(raw)
    assert source_of(source) == source
    assert unicodedata.is_normalized("NFC", source)
    assert "\r" not in source


@examples(150)
@given(RAW | ANYTHING, st.data())
def test_places_go_to_javascript_and_back(raw: str, data: st.DataObject) -> None:
    source = source_of(raw)
    place = data.draw(st.integers(0, len(source)))
    units = to_utf16(source, place)
    assert from_utf16(source, units) == place
    assert source.encode("utf-16-le")[: 2 * units].decode("utf-16-le") == source[:place]


def test_line_ends_controls_and_accents_have_one_form() -> None:
    assert source_of("\ufeffa\r\nb\rc\u2028d\x00e\u0301\ud83d") == "a\nb\nc\nd\u00e9\ufffd"
    assert source_of("e\x00\u0301") == "\u00e9"


def test_a_place_inside_a_character_or_outside_the_text_is_refused() -> None:
    source = "a𝔽b"
    assert [to_utf16(source, place) for place in range(4)] == [0, 1, 3, 4]
    for units in (2, 5, -1):
        with pytest.raises(PlaceWrong):
            from_utf16(source, units)
    for place in (-1, 4):
        with pytest.raises(PlaceWrong):
            to_utf16(source, place)
