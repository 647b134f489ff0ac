"""A statement as pages show it: figure and outcomes, or the error. Also the blocks of statements in texts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from apps.geometry.checking import NOT_UNDERSTOOD, PROVED, REFUTED, SURVIVED, Check, Outcome, check
from apps.geometry.configurations import Configuration, build, clearness
from apps.geometry.drawing import goal_words, svg
from apps.geometry.loci import FLOATS, Degenerate
from apps.geometry.statement import StatementError, read

#: A fenced block that holds a statement, in Markdown.
_BLOCK = re.compile(r"(?ms)^[ \t]*(`{3,}|~{3,})[ \t]*geometry[ \t]*\n(.*?)^[ \t]*\1[`~]*[ \t]*$")
MOST_BLOCKS = 5
WORDS = {PROVED: "proved", REFUTED: "refuted", SURVIVED: "survived", NOT_UNDERSTOOD: "not understood"}


@dataclass(frozen=True)
class ShownGoal:
    """A goal in words with its outcome."""

    words: str
    written: str
    outcome: str
    word: str
    detail: str
    seed: int | None
    coordinates: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Shown:
    """A statement for a page. With an `error` there is nothing else but the text.

    `drawing` is SVG of one configuration; `seed` names it, and `following` the next one to look at.
    """

    text: str
    error: str = ""
    check: Check | None = None
    drawing: str = ""
    seed: int = 0
    following: int = 0

    @property
    def goals(self) -> list[ShownGoal]:
        return shown_goals(self.check.outcomes) if self.check else []


def blocks(text: str) -> list[str]:
    """The statements in the fenced blocks of a text, at most `MOST_BLOCKS`."""
    return [found[2].strip() for found in _BLOCK.finditer(text.replace("\r\n", "\n"))][:MOST_BLOCKS]


@lru_cache(maxsize=256)
def shown(text: str, seed: int | None = None, identity: str = "figure") -> Shown:
    """A statement with the most readable figure, or that of a seed."""
    try:
        statement = read(text)
    except StatementError as error:
        return Shown(text, str(error))
    found = check(statement)
    if not found.configurations:
        return Shown(text, check=found)
    ordered = sorted(found.configurations, key=clearness, reverse=True)
    refuting = [one.at.seed for one in found.outcomes if one.at]
    chosen, following = _chosen(found, ordered, refuting[0] if refuting and seed is None else seed)
    return Shown(text, "", found, svg(statement, chosen, identity), chosen.seed, following)


def _chosen(found: Check, ordered: Sequence[Configuration], seed: int | None) -> tuple[Configuration, int]:
    """The configuration of a seed, which may be one that no test used, and the seed of the next in order."""
    seeds = [one.seed for one in ordered]
    if seed in seeds:
        place = seeds.index(seed)
        return ordered[place], seeds[(place + 1) % len(seeds)]
    try:
        return (ordered[0] if seed is None else build(found.statement, seed, FLOATS)), seeds[1 % len(seeds)]
    except Degenerate:
        return ordered[0], seeds[1 % len(seeds)]


def shown_goals(outcomes: Sequence[Outcome]) -> list[ShownGoal]:
    """The outcomes of goals in words."""
    return [
        ShownGoal(
            goal_words(one.goal),
            str(one.goal),
            one.outcome,
            WORDS[one.outcome],
            one.words,
            one.at.seed if one.at else None,
            one.coordinates,
        )
        for one in outcomes
    ]
