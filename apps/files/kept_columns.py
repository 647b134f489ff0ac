"""Copy columns of a user's file to our outputs: theirs keep their names, ours are renamed on a clash."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

#: Prefix of a grader's column whose name exists in the file.
GRADER = "grader_"


def output_names(ours: Iterable[str], kept: Collection[str], prefix: str = GRADER) -> dict[str, str]:
    """The output name of each of our columns: its own, or a prefixed one that neither side uses."""
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


def merged(kept: Mapping[str, Any], ours: Mapping[str, Any], prefix: str = GRADER) -> dict[str, Any]:
    """One row with the values of both sides. No kept value is lost."""
    names = output_names(ours, kept, prefix)
    return {**kept, **{names[own]: value for own, value in ours.items()}}


def siblings(names: Collection[str], what: str, human: str) -> dict[str, str]:
    """By each column of a grader's points in one of our outputs: its column `what`.

    A file that was graded again has several columns of points, the newest with the most prefixes.
    """

    def found(own: str) -> list[str]:
        return sorted((name for name in names if re.fullmatch(f"({GRADER})*{own}", name)), key=len, reverse=True)

    return dict(zip((name for name in found("points") if name != human), found(what), strict=False))


def renamed(names: Mapping[str, str]) -> dict[str, str]:
    """The entries of `output_names` that were renamed."""
    return {own: name for own, name in names.items() if own != name}
