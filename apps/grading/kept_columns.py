"""Columns of a person's file in outputs of ours: theirs keep their names, ours step aside."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

#: Before a column of a grader whose name the file has.
GRADER = "grader_"


def names_beside(ours: Iterable[str], kept: Collection[str], prefix: str = GRADER) -> dict[str, str]:
    """By each of our columns its name in the output: its own, or one with prefixes that neither side has."""
    ours = list(ours)
    taken = {*ours, *kept}
    names = {}
    for own in ours:
        name = own
        if own in kept:
            while name in taken:
                name = prefix + name
            taken.add(name)
        names[own] = name
    return names


def beside(kept: Mapping[str, Any], ours: Mapping[str, Any], prefix: str = GRADER) -> dict[str, Any]:
    """One row of both. No kept value is lost."""
    names = names_beside(ours, kept, prefix)
    return {**kept, **{names[own]: value for own, value in ours.items()}}


def siblings(names: Collection[str], what: str, human: str) -> dict[str, str]:
    """By each column of a grader's points in an output of ours, or in one made of such, its column `what`.

    A file that was graded again has several, the newest with the most prefixes.
    """

    def found(own: str) -> list[str]:
        return sorted((name for name in names if re.fullmatch(f"({GRADER})*{own}", name)), key=len, reverse=True)

    return dict(zip((name for name in found("points") if name != human), found(what), strict=False))


def renamed(names: Mapping[str, str]) -> dict[str, str]:
    """Those of `names_beside` that had to step aside."""
    return {own: name for own, name in names.items() if own != name}
