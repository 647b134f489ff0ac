"""What a user asked for and cannot have, and the largest experiment."""

import difflib
from collections.abc import Collection

CELLS_AT_MOST = 50_000
_NAMED_AT_MOST = 8


class ExperimentRefused(Exception):
    """The change is not possible now; the message says why."""


def instead_of(word: str, known: Collection[str]) -> str:
    """What may be written instead of an unknown name, as a sentence: similar names, else the first known ones."""
    similar = difflib.get_close_matches(word, known, n=3, cutoff=0.6)
    if similar:
        return f"Similar: {', '.join(similar)}."
    more = ", …" if len(known) > _NAMED_AT_MOST else ""
    return f"Choose from: {', '.join(list(known)[:_NAMED_AT_MOST]) or 'none'}{more}."
