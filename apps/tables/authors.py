"""Compare people of a table with the authors of a contest: by name together with the id or the school.

A different id, or a different school where one side has no id, makes two people of one name.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from apps.contests.models import Identity
from apps.tables.columns import folded
from apps.tables.reading import Person

#: Words at least this similar are one word with a slip of spelling.
_SLIP = 0.8


@dataclass(frozen=True)
class Match:
    """The author who a person is. `found`: the only one possible; `is_exact`: the school or the id agrees, not only the name.

    `entered`: the possible one without an account, whom an account may be given. `is_unclear`: there are several.
    """

    found: Identity | None = None
    entered: Identity | None = None
    is_exact: bool = False
    is_unclear: bool = False


def match_of(person: Person, rows: Iterable[Identity]) -> Match:
    """The author among those of the person's name."""
    possible = [row for row in rows if not is_other(person, row)]
    exact = [row for row in possible if agreeing(person, row)]
    left = exact or possible
    entered = next((row for row in left if row.person_id is None), None)
    return Match(left[0] if len(left) == 1 else None, entered, len(exact) == 1, len(left) > 1)


def is_other(person: Person, row: Identity) -> bool:
    """Whether school or id show that an author of the same name is another person."""
    return _agreement(person, row) is False


def agreeing(person: Person, row: Identity) -> bool:
    """Whether school or id show that an author of the same name is this person."""
    return _agreement(person, row) is True


def names_agree(one: str, other: str) -> bool:
    """Whether two names can be those of one person: the words of the shorter one are in the other, in any order.

    A word may be shortened, as in `Anna K.`, or have a slip of spelling.
    """
    words, others = sorted((re.findall(r"\w+", folded(name)) for name in (one, other)), key=len)
    return all(any(_words_agree(word, another) for another in others) for word in words)


def _words_agree(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one) or SequenceMatcher(None, one, other).ratio() >= _SLIP


def _agreement(person: Person, row: Identity) -> bool | None:
    """Whether the ids agree, else the schools; None if neither is on both sides."""
    for given, stored in ((person.external_id, row.external_id), (person.school, row.school)):
        if given and stored:
            return folded(given) == folded(stored)
    return None
