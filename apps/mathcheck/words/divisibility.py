r"""Divisibility in words: "$n^3-n$ is divisible by $6$" is the claim `6 \mid n^3-n`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from apps.mathcheck.claims import Link
from apps.mathcheck.tex.lexing import Token, tokens
from apps.mathcheck.tex.notation import NotUnderstood
from apps.mathcheck.tex.parsing import parsed
from apps.mathcheck.tex.relations import Statement
from apps.mathcheck.tex.tree import free_names, is_bare
from apps.mathcheck.words.reading import Line
from apps.mathcheck.words.stance import is_condition

_DIVISIBLE = re.compile(
    r"(?P<n>⟦\d+⟧)\s+is\s+(?:also\s+|clearly\s+|indeed\s+|always\s+)?(?:divisible\s+by|an?\s+(?:integer\s+)?multiple\s+of)"
    r"\s*(?P<m>⟦\d+⟧|\d+)(?!\s*[-⟦\d])"
    r"(?!\s*,?\s*(?:if|when|whenever|unless|modulo|only|exactly|precisely|power|to|relative|or|iff|but)\b)",
    re.IGNORECASE,
)
_PART_OF_MORE = re.compile(
    r"\b(?:one|some|among|between|product|sum|difference|none|neither|either|each|of|digits?|number)\b[^.;:]{0,60}$",
    re.IGNORECASE,
)
_OPENS = re.compile(r"(?:^|[.,;:]|\b(?:\w+ly|since|because|that|hence|so|thus|indeed|here|then|therefore|have|and))\s*$", re.I)


@dataclass(frozen=True, slots=True)
class Divided:
    """A claim in words: its place `flat[start:end]` in the line, the divided statement, and the equivalent link."""

    start: int
    end: int
    place: int
    link: Link


def divided_in_words(line: Line) -> Iterator[Divided]:
    """Expressions with names that the sentence asserts to be divisible. Bare names are conditions; counting.py has numbers."""
    for match in _DIVISIBLE.finditer(line.flat):
        place = int(match["n"][1:-1])
        before = line.flat[: match.start()].rstrip()
        if is_condition(line.before(place)) or not _OPENS.search(before) or _is_listed(line, place, before):
            continue
        link = _link(line, match)
        if link is not None:
            yield Divided(match.start(), match.end(), place, link)


def _is_listed(line: Line, place: int, before: str) -> bool:
    """Whether the expression is the last of several: "one of $n-1$, $n+1$ is divisible by 3"."""
    if _PART_OF_MORE.search(before):
        return True
    earlier = line.statements[place - 1] if place and re.search(r"⟧(?:\s*,)?(?:\s*and)?$", before) else None
    return earlier is not None and not earlier.relations and not earlier.foreign and not _is_name(earlier)


def _is_name(statement: Statement) -> bool:
    return len(statement.tokens) == 1


def _link(line: Line, match: re.Match[str]) -> Link | None:
    whole = line.statements[int(match["n"][1:-1])]
    divisor = tokens(match["m"]) if match["m"].isdigit() else _sole(line.statements[int(match["m"][1:-1])])
    multiple = _sole(whole)
    if not divisor or not multiple:
        return None
    try:
        node, _ = parsed(multiple), parsed(divisor)
    except NotUnderstood:
        return None
    if is_bare(node) or not free_names(node):
        return None
    return Link(divisor, r"\mid", multiple, None, 0, 0)


def _sole(statement: Statement) -> list[Token] | None:
    plain = not statement.relations and not statement.foreign and statement.modulus is None
    return statement.parts[0] if plain else None
