"""The one unit of places in a text: code points of its source, which is NFC with LF line ends.

JavaScript counts UTF-16 units, in which a letter such as 𝔽 is two; `from_utf16` and `to_utf16` go between.
"""

import re
import unicodedata

_LINE_ENDS = re.compile(r"\r\n?|\u2028|\u2029|\x85")
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]")
_HALVES = re.compile("[\ud800-\udfff]")
_BEYOND = re.compile("[\U00010000-\U0010ffff]")


class PlaceWrong(ValueError):
    """A place outside a text, or inside a character."""


def source_of(raw: str) -> str:
    """The source of a text as it was handed in: line ends as LF, without control characters, NFC. A source gives itself."""
    text = _NO_TEXT.sub("", _LINE_ENDS.sub("\n", raw))
    return unicodedata.normalize("NFC", _HALVES.sub("\ufffd", text))


def to_utf16(source: str, place: int) -> int:
    """The place in UTF-16 units. Raises `PlaceWrong`."""
    if not 0 <= place <= len(source):
        raise PlaceWrong(f"{place} is outside a text of {len(source)} characters")
    return place + len(_BEYOND.findall(source, 0, place))


def from_utf16(source: str, units: int) -> int:
    """The place in code points of a place in UTF-16 units. Raises `PlaceWrong`, also for one between two halves."""
    encoded = source.encode("utf-16-le")
    if not 0 <= 2 * units <= len(encoded):
        raise PlaceWrong(f"{units} is outside the text")
    try:
        return len(encoded[: 2 * units].decode("utf-16-le"))
    except UnicodeDecodeError as error:
        raise PlaceWrong(f"{units} is inside a character") from error
