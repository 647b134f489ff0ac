"""Groups of solutions that are alike: the same final answer, or the same beginning. No grade or verdict has a part in it.

Answers are compared as values (`comparison`), so $1/2$ and 0.5 are one group. Beginnings are compared by their words and
signs in order (`texts.likeness`). Each solution is in at most one group of a kind.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from apps.reasoning.answers.comparison import answers_compared
from apps.reasoning.answers.final import final_answer
from apps.reasoning.texts.likeness import SAME, LikenessIndex, tokens_of

K = TypeVar("K")
#: Words and signs of a beginning; shorter ones say too little, as "We use induction." does.
BEGINNING, SHORTEST = 60, 15
#: Answers that a new one is compared with; beyond them, only the same words are the same answer.
MOST_ANSWERS = 100
_WORD = re.compile(r"\S+")


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
    for key, text in texts.items():
        answer = final_answer(text)
        words = " ".join(answer.text.split())
        if not words or not answer.is_stated:
            continue
        if words not in group_of:
            group_of[words] = _same(words, found)
        found.setdefault(group_of[words], []).append(key)
    return _sorted(Kind.ANSWER, found.items())


def by_beginning(texts: Mapping[K, str]) -> list[Group[K]]:
    """Solutions that begin alike: each is like another one of its group, not necessarily like all."""
    starts = {key: start for key, text in texts.items() if len(tokens_of(start := _beginning(text))) >= SHORTEST}
    index = LikenessIndex(starts.items())
    first: dict[K, K] = {key: key for key in starts}
    for key, start in starts.items():
        for other in index.alike(start, SAME):
            _join(first, key, other.key)
    found: dict[K, list[K]] = {}
    for key in starts:
        found.setdefault(_root(first, key), []).append(key)
    return _sorted(Kind.BEGINNING, ((starts[keys[0]], keys) for keys in found.values()))


def _same(answer: str, known: Iterable[str]) -> str:
    """The known answer that is equal to this one, or this one."""
    compared = list(known)[:MOST_ANSWERS]
    return next((other for other in compared if answers_compared(answer, other).outcome == "equal"), answer)


def _beginning(text: str) -> str:
    words = list(_WORD.finditer(text))
    return text if len(words) <= BEGINNING else text[: words[BEGINNING - 1].end()]


def _root(first: dict[K, K], key: K) -> K:
    while first[key] != key:
        key = first[key]
    return key


def _join(first: dict[K, K], one: K, other: K) -> None:
    first[_root(first, other)] = _root(first, one)


def _sorted(kind: Kind, found: Iterable[tuple[str, Sequence[K]]]) -> list[Group[K]]:
    groups = [Group(kind, shared, tuple(keys)) for shared, keys in found if len(keys) > 1]
    return sorted(groups, key=lambda one: -len(one.keys))
