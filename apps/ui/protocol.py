"""Tags of the answer format that a prompt requests, such as `<claim>` or `<check step="1" sound="yes">`.

They are text, never markup: pages show them in place, but quietly. static/js/protocol.js finds the same tags.
"""

import re
from collections.abc import Iterator

_TAG = re.compile(r"</?[a-z][a-z_-]{1,30}(?:\s+[a-z-]{1,30}=\"[^\"<>]{0,80}\")*\s*/?>")


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield pieces of the text, each with whether it is a tag."""
    at = 0
    for found in _TAG.finditer(text):
        if found.start() > at:
            yield text[at : found.start()], False
        yield found.group(), True
        at = found.end()
    if at < len(text):
        yield text[at:], False


def begins_with_tag(text: str) -> bool:
    """Whether `text` begins with a tag, which then starts a new line."""
    return _TAG.match(text) is not None
