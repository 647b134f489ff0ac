"""Groups of solutions that are alike: the same final answer, or the same beginning. No grade or verdict has a part in it.

Answers are compared as values (`comparison`), so $1/2$ and 0.5 are one group. Beginnings are alike if they share enough runs of
three words or signs. Each solution is compared with the first one of each group, so the cost grows with the number of groups.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from apps.reasoning.answers.comparison import answers_compared
from apps.reasoning.answers.final import final_answer
from apps.reasoning.texts.likeness import RUN, tokens_of

K = TypeVar("K")
#: Most words and characters of a beginning, and the fewest words and signs: "We use induction." says too little.
WORDS, CHARACTERS, SHORTEST = 60, 500, 15
#: The share of the runs of the shorter beginning that the longer one must have.
ALIKE = 0.6
#: Most comparisons of values for one list (about 1 ms each); then only the same words are the same answer.
COMPARISONS = 1_000
_WORD = re.compile(r"\S+")
_NUMBER = re.compile(r"\$?\s*(-?\d{1,18})\s*\$?")


class Kind(StrEnum):
    """What the solutions of a group have in common."""

    ANSWER = "answer"
    BEGINNING = "beginning"


@dataclass(frozen=True)
class Group(Generic[K]):
    """Solutions that are alike, in the given order. `shared`: the answer or the beginning of the first one."""

    kind: Kind
    shared: str
    keys: tuple[K, ...]


def groups_of(texts: Mapping[K, str]) -> list[Group[K]]:
    """The groups of at least two solutions: by answer, then by beginning, the largest first."""
    return [*by_answer(texts), *by_beginning(texts)]


def by_answer(texts: Mapping[K, str]) -> list[Group[K]]:
    """Solutions that state the same final answer. One that states none is in no group."""
    found: dict[str, list[K]] = {}
    group_of: dict[str, str] = {}
    left = iter(range(COMPARISONS))
    for key, text in texts.items():
        answer = final_answer(text)
        words = " ".join(answer.text.split())
        if not words or not answer.is_stated:
            continue
        if words not in group_of:
            group_of[words] = _same(words, found, left)
        found.setdefault(group_of[words], []).append(key)
    return _sorted(Kind.ANSWER, found.items())


def by_beginning(texts: Mapping[K, str]) -> list[Group[K]]:
    """Solutions that begin like the first one of their group."""
    members: list[tuple[str, list[K]]] = []
    runs: list[frozenset[tuple[str, ...]]] = []
    having: dict[tuple[str, ...], list[int]] = {}
    for key, text in texts.items():
        start = _beginning(text)
        own = _runs(tokens_of(start))
        if len(own) < SHORTEST - RUN + 1:
            continue
        shared = Counter(place for run in own for place in having.get(run, ()))
        place, common = next(iter(shared.most_common(1)), (0, 0))
        if common and common >= ALIKE * min(len(own), len(runs[place])):
            members[place][1].append(key)
            continue
        for run in own:
            having.setdefault(run, []).append(len(runs))
        runs.append(own)
        members.append((start, [key]))
    return _sorted(Kind.BEGINNING, members)


def _same(answer: str, known: Iterable[str], left: Iterator[int]) -> str:
    """The known answer that is equal to this one, or this one. `left`: the comparisons that may still be made."""
    number = _NUMBER.fullmatch(answer)
    for other in known:
        if number and (another := _NUMBER.fullmatch(other)):
            if int(number[1]) == int(another[1]):
                return other
        elif next(left, None) is None:
            break
        elif answers_compared(answer, other).outcome == "equal":
            return other
    return answer


def _beginning(text: str) -> str:
    """The first words; a formula is not cut."""
    text = text.lstrip()
    words = list(_WORD.finditer(text[:CHARACTERS]))
    end = words[min(len(words), WORDS) - 1].end() if words else 0
    start = text[:end]
    return start[: start.rfind("$")] if end < len(text) and start.count("$") % 2 else start


def _runs(tokens: Sequence[str]) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(tokens[at : at + RUN]) for at in range(len(tokens) - RUN + 1))


def _sorted(kind: Kind, found: Iterable[tuple[str, Sequence[K]]]) -> list[Group[K]]:
    groups = [Group(kind, shared, tuple(keys)) for shared, keys in found if len(keys) > 1]
    return sorted(groups, key=lambda one: -len(one.keys))
