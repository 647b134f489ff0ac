"""Suppositions in words: "suppose that the term for $i=1$ is $1$" is read if the text has defined the phrase."""

import re
from collections.abc import Iterator

from apps.mathcheck.words.reading import Line

_MEANS = re.compile(r"^\W*(?P<phrase>.+?)\s*,?\s*\b(?:exactly|precisely)\s+(?:when|if)\s+⟦(?P<meaning>\d+)⟧", re.IGNORECASE)
_SUPPOSES = re.compile(r"\b(?:cases?|subcases?|suppose|assume|assuming|supposing|wlog)\b", re.IGNORECASE)
#: Openings of a reason: repeating a known property of a name there does not restrict the name.
SINCE = re.compile(r"^\W*(?:since|because|as)\b", re.IGNORECASE)
#: Words that may narrow the scope; in an unread sentence they do.
_NARROWS = re.compile(r"\b(?:let|consider\w*|only|take|choose|pick|fix|restrict\w*|from\s+(?:now|here)\s+on)\b", re.IGNORECASE)
_SUPPOSITION = re.compile(r"^\W*(?:now\s+)?(?:suppose|assume)\s+(?:now\s+)?(?:that\s+)?(?P<phrase>.+?)\W*$", re.IGNORECASE)


def meanings_in(line: Line, text: str) -> Iterator[str]:
    """Phrases that the sentence defines by a relation: "… exactly when $2s\\ge p$"."""
    match = _MEANS.match(line.flat)
    if match and line.statements[int(match["meaning"])].relations:
        yield _written(line, text, *match.span("phrase"))


def has_vague_supposition(line: Line, text: str, conditions: set[int], is_read: bool, meanings: set[str]) -> bool:
    """Whether the sentence supposes something that is neither a relation nor a defined phrase."""
    if not is_read and _NARROWS.search(line.words):
        return True
    if not _SUPPOSES.search(line.words):
        return False
    match = _SUPPOSITION.match(line.flat)
    if match and _written(line, text, *match.span("phrase")) in meanings:
        return False
    return not is_read or not line.statements or any(place not in conditions for place in range(len(line.statements)))


def _written(line: Line, text: str, start: int, end: int) -> str:
    """The phrase as written, normalised for comparison."""
    first, last = line.span(start, end)
    return " ".join(text[first:last].lower().strip(" .,;:").split())
