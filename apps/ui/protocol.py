"""Tags that a prompt asks a model to write, such as `<claim>` or `<check step="1" sound="yes">`, in the text of an answer.

They are words of the text, never markup: pages show them where they stand, but quietly. static/js/protocol.js finds the same.
"""

import re
from collections.abc import Iterator

_TAG = re.compile(r"</?[a-z][a-z_-]{1,30}(?:\s+[a-z-]{1,30}=\"[^\"<>]{0,80}\")*\s*/?>")


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, and whether each is a tag."""
    at = 0
    for found in _TAG.finditer(text):
        if found.start() > at:
            yield text[at : found.start()], False
        yield found.group(), True
        at = found.end()
    if at < len(text):
        yield text[at:], False


def begins_with_tag(text: str) -> bool:
    """Does a line that goes on with `text` begin with a tag? Then it is shown as a line."""
    return _TAG.match(text) is not None
