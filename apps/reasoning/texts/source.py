"""The one unit of places in a text: code points of its source, which is NFC with LF line ends.

JavaScript counts UTF-16 units, in which a letter such as 𝔽 is two; its pages convert.
"""

import re
import unicodedata

_LINE_ENDS = re.compile(r"\r\n?|\u2028|\u2029|\x85")
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]")
_HALVES = re.compile("[\ud800-\udfff]")


class PlaceWrong(ValueError):
    """A place outside a text, or inside a character."""


def source_of(raw: str) -> str:
    """The source of a text as it was handed in: line ends as LF, without control characters, NFC. A source gives itself."""
    text = _NO_TEXT.sub("", _LINE_ENDS.sub("\n", raw))
    return unicodedata.normalize("NFC", _HALVES.sub("\ufffd", text))
