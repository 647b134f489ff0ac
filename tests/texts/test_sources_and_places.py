"""One unit for places: code points of the NFC source with LF line ends; JavaScript's units go there and back."""

import unicodedata

from hypothesis import given

from apps.reasoning.texts.source import source_of
from tests.texts.made import ANYTHING, RAW, examples


@examples(150)
@given(RAW | ANYTHING)
def test_a_source_is_its_own_source(raw: str) -> None:
    source = source_of(raw)
    assert source_of(source) == source
    assert unicodedata.is_normalized("NFC", source)
    assert "\r" not in source


def test_line_ends_controls_and_accents_have_one_form() -> None:
    assert source_of("\ufeffa\r\nb\rc\u2028d\x00e\u0301\ud83d") == "a\nb\nc\nd\u00e9\ufffd"
    assert source_of("e\x00\u0301") == "\u00e9"
