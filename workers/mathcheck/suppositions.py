"""What sentences suppose in words: "suppose that the term for $i=1$ is $1$" is read where it was said what that means."""

import re
from collections.abc import Iterator

from workers.mathcheck.reading import Line

_MEANS = re.compile(r"^\W*(?P<phrase>.+?)\s*,?\s*\b(?:exactly|precisely)\s+(?:when|if)\s+⟦(?P<meaning>\d+)⟧", re.IGNORECASE)
_SUPPOSES = re.compile(r"\b(?:cases?|subcases?|suppose|assume|assuming|supposing|wlog)\b", re.IGNORECASE)
#: What follows is a reason: a name that is said again to be what it is known to be is restricted by nothing.
SINCE = re.compile(r"^\W*(?:since|because|as)\b", re.IGNORECASE)
#: Words of sentences that may narrow what is spoken of, and do where the sentence was not read.
_NARROWS = re.compile(r"\b(?:let|consider\w*|only|take|choose|pick|fix|restrict\w*|from\s+(?:now|here)\s+on)\b", re.IGNORECASE)
_SUPPOSED = re.compile(r"^\W*(?:now\s+)?(?:suppose|assume)\s+(?:now\s+)?(?:that\s+)?(?P<phrase>.+?)\W*$", re.IGNORECASE)


def meanings_in(line: Line, text: str) -> Iterator[str]:
    """Phrases of which the sentence says when they are true, by a relation: "… exactly when $2s\\ge p$"."""
    match = _MEANS.match(line.flat)
    if match and line.statements[int(match["meaning"])].relations:
        yield _written(line, text, *match.span("phrase"))


def supposes_vaguely(line: Line, text: str, conditions: set[int], is_read: bool, meanings: set[str]) -> bool:
    """Whether the sentence supposes something that is neither a relation nor a phrase with a known meaning."""
    if not is_read and _NARROWS.search(line.words):
        return True
    if not _SUPPOSES.search(line.words):
        return False
    match = _SUPPOSED.match(line.flat)
    if match and _written(line, text, *match.span("phrase")) in meanings:
        return False
    return not is_read or not line.statements or any(place not in conditions for place in range(len(line.statements)))


def _written(line: Line, text: str, start: int, end: int) -> str:
    """The phrase as it is written, to be compared."""
    first, last = line.span(start, end)
    return " ".join(text[first:last].lower().strip(" .,;:").split())
