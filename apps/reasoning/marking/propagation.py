"""How an error runs through an argument, as a value: links from an error to what becomes of the whole.

Source: RefGrader, App. B.1: E an error, C a claim, S a sub-step, M a main step, then an outcome.
"""

from collections.abc import Iterable
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from apps.reasoning.domain.values import Value


class ChainEnd(StrEnum):
    """The effect on the argument: nothing remains valid, a part remains valid, or the chain ends without effect."""

    INVALID = "FINAL_INVALID"
    PARTIAL = "PARTIAL_VALID"
    BROKEN = "CHAIN_BROKEN"


END_WORDS = {
    ChainEnd.INVALID: "the conclusion falls",
    ChainEnd.PARTIAL: "a part remains valid",
    ChainEnd.BROKEN: "it stops there",
}


#: Meaning of the letters in names; errors keep their own names, which their findings show.
_PARTS = {"C": "claim", "S": "sub-step", "M": "main step"}


def part_words(name: str) -> str:
    """The name of a part of an argument for people: `M2` is main step 2. Items of rubrics and groups have such codes too."""
    kind = _PARTS.get(name[:1])
    return f"{kind} {name[1:]}" if kind else name


class Link(Value):
    """A link: its letter with its number (`E1`), and the step of the script, 0 where none is named."""

    name: str
    step: int = 0

    @property
    def words(self) -> str:
        """For people."""
        return part_words(self.name)


class Propagation(Value):
    """A chain that begins with an error. The graph of a script is the union of its chains."""

    links: tuple[Link, ...]
    end: ChainEnd

    @property
    def error(self) -> str:
        """The name of the finding that it begins with."""
        return self.links[0].name

    @property
    def end_words(self) -> str:
        """What becomes of the argument, in words."""
        return END_WORDS[self.end]

    @property
    def words(self) -> str:
        """`E1 (step 2) → main step 2 (step 3) → the conclusion falls`."""
        links = [f"{link.words} (step {link.step})" if link.step else link.words for link in self.links]
        return " → ".join([*links, END_WORDS[self.end]])


class StepNote(NamedTuple):
    """The remark at a step through which an error propagates."""

    step: int
    words: str
    is_root: bool


def step_notes(chains: Iterable[Propagation]) -> tuple[StepNote, ...]:
    """For each step on a chain what begins there or where it comes from, each note once, in the order of the chains."""
    notes: list[StepNote] = []
    for chain in chains:
        last = max((place for place, link in enumerate(chain.links) if link.step), default=-1)
        for place, link in enumerate(chain.links):
            if not link.step:
                continue
            before = chain.links[place - 1] if place else None
            words = f"{link.words} begins here" if before is None else f"{link.words} follows from {_place(before)}"
            end = f"; {END_WORDS[chain.end]}" if place == last else ""
            notes.append(StepNote(link.step, f"{words}{end}", before is None))
    return tuple(dict.fromkeys(notes))


def step_pairs(chains: Iterable[Propagation]) -> tuple[tuple[int, int], ...]:
    """From which step to which an error runs, each pair once, in order. Links without a step are passed over."""
    pairs: list[tuple[int, int]] = []
    for chain in chains:
        steps = [link.step for link in chain.links if link.step]
        pairs += [(one, other) for one, other in pairwise(steps) if one != other]
    return tuple(dict.fromkeys(pairs))


def _place(link: Link) -> str:
    return f"{link.words} in step {link.step}" if link.step else link.words
