"""Groups of lemmas of several runs that say the same.

Two statements say the same word for word (equal normal form), or up to the names of variables, or they are alike: the same
numbers, relations and decisive words, most words and signs in the same order, and no word exchanged for another. Decisions of
people override all three.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from enum import IntEnum
from typing import Generic, TypeVar

from apps.reasoning.graph.statements import FORMULA, TOKEN, AlikeIndex, normalise_statement

K = TypeVar("K")
#: Shares of common tokens, as sets (Dice) and in order, from which statements with equal decisive tokens are alike.
ALIKE = 0.8
#: Most statements of a block that a statement is compared with in full.
CANDIDATES = 8
_LETTER = re.compile(r"\\(?:math\w+|text\w*|operatorname\*?)\s*\{[^{}]*\}|\\[a-zA-Z]+|([a-zA-Z])")
#: Numbers, relations and words whose exchange makes another statement, although all others are the same.
_DECISIVE = re.compile(
    r"\d+|[=<>+\-]|\\(?:pm|mp|sin|cos|tan|cot|log|ln|exp|gcd|lcm|min|max|le|ge|ne|mid|nmid|equiv|in|notin|subset|subseteq|sim|perp|parallel|cong)"
    r"|or|only|iff|exactly|precisely|except|not?|never|neither|nor|none|without|cannot|fails|false|unless|some|odd|even|most|least"
    r"|smallest|largest|minim(?:al|um)"
    r"|maxim(?:al|um)|increasing|decreasing|positive|negative|finite|finitely|infinite|infinitely|acute|obtuse|convex|concave|prime|composite"
)
_WORD = re.compile(r"[^\W\d_]{3,}")
#: Words that only connect: statements with others of them may still be alike.
_CONNECTING = re.compile(
    r"all|always|also|and|any|are|assume|case|conclude|each|every|exists?|follows?|for|from|get|given?|has|have|hence|holds?|its?|let"
    r"|moreover|now|obtain|prove[dn]?|satisf(?:y|ies)|see|seen|shows?|shown|such|suppose|that|the|then|there|therefore|these|this|thus|true|whenever|where|which|whose|with"
)
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


class How(IntEnum):
    """How a lemma came into its group, the strongest first."""

    DECIDED = 0
    EQUAL = 1
    RENAMED = 2
    ALIKE = 3


@dataclass(frozen=True)
class Statement(Generic[K]):
    """A statement under its key."""

    key: K
    text: str


@dataclass(frozen=True)
class Group(Generic[K]):
    """Lemmas that say the same, in the order given. `how`: DECIDED if people joined some of them, else the weakest
    link; None for a single lemma.

    `score`: the lowest likeness from 0 to 1 if a link is by likeness.
    """

    keys: tuple[K, ...]
    how: How | None = None
    score: float | None = None


@dataclass(frozen=True)
class Decision(Generic[K]):
    """A person's word on two lemmas."""

    one: K
    other: K
    is_same: bool


def groups_of(statements: Sequence[Statement[K]], problem: str = "", decisions: Iterable[Decision[K]] = ()) -> list[Group[K]]:
    """The groups in the order of their first lemmas. Variables of the text `problem` keep their names.

    `decisions` are ordered newest first: an earlier one that contradicts a later one does not count.
    """
    joined = _Joined([one.key for one in statements])
    for decision in decisions:
        joined.decide(decision)
    kept = _letters_of(problem)
    texts = {one.key: one.text for one in statements}
    forms = {key: normalise_statement(text) for key, text in texts.items()}
    leaders = _linked(joined, [_Form(key, form) for key, form in forms.items()], How.EQUAL)
    renamed = [_renamed(one, texts[one.key], kept) for one in leaders]
    _link_alike(joined, _linked(joined, renamed, How.RENAMED))
    return joined.groups()


class _Joined(Generic[K]):
    """Disjoint sets of lemmas, in which parted pairs never meet."""

    def __init__(self, keys: Sequence[K]) -> None:
        self._parent = {key: key for key in keys}
        self._links: dict[K, tuple[How, float | None]] = {}
        self._parted: list[tuple[K, K]] = []

    def decide(self, decision: Decision[K]) -> None:
        """Follow a decision, unless it contradicts those before or names an absent lemma."""
        one, other = decision.one, decision.other
        if one not in self._parent or other not in self._parent:
            return
        if decision.is_same:
            self.link(one, other, How.DECIDED)
        elif self.root(one) != self.root(other):
            self._parted.append((one, other))

    def root(self, key: K) -> K:
        while (above := self._parent[key]) != key:
            self._parent[key] = self._parent[above]
            key = above
        return key

    def link(self, one: K, other: K, how: How, score: float | None = None) -> bool:
        """Unite the groups of two lemmas. False if people parted lemmas of both."""
        first, second = self.root(one), self.root(other)
        if first == second:
            return True
        if any({self.root(left), self.root(right)} == {first, second} for left, right in self._parted):
            return False
        self._parent[second] = first
        known = [found for root in (first, second) if (found := self._links.get(root))]
        scores = [found[1] for found in known if found[1] is not None] + ([] if score is None else [score])
        hows = [how, *(found[0] for found in known)]
        self._links[first] = (How.DECIDED if How.DECIDED in hows else max(hows), min(scores, default=None))
        return True

    def groups(self) -> list[Group[K]]:
        members: dict[K, list[K]] = defaultdict(list)
        for key in self._parent:
            members[self.root(key)].append(key)
        return [Group(tuple(keys), *self._links.get(root, (None, None))) for root, keys in members.items()]


@dataclass
class _Form(Generic[K]):
    """A lemma that leads a group: its form, and the letters that each lemma of the group has for the variables of the form."""

    key: K
    form: str
    letters: list[Sequence[str]] = field(default_factory=list)

    def takes(self, other: "_Form[K]") -> bool:
        """False if letters are exchanged: of "a divides b" and "b divides a" only one may hold."""
        return not any(_exchange(one, another) for one in self.letters for another in other.letters)


def _exchange(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether the letters that both have come in another order."""
    return [letter for letter in one if letter in other] != [letter for letter in other if letter in one]


def _linked(joined: _Joined[K], forms: Iterable[_Form[K]], how: How) -> list[_Form[K]]:
    """Link the lemmas of equal form. Returns one lemma for each form, and those that are kept apart from it."""
    leaders: dict[str, list[_Form[K]]] = defaultdict(list)
    for one in forms:
        for leader in leaders[one.form]:
            if leader.takes(one) and joined.link(leader.key, one.key, how):
                leader.letters += one.letters
                break
        else:
            leaders[one.form].append(one)
    return [leader for found in leaders.values() for leader in found]


def _link_alike(joined: _Joined[K], forms: Sequence[_Form[K]]) -> None:
    """Link each lemma with the most similar earlier one that began a group, among those with equal decisive tokens."""
    blocks: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, one in enumerate(forms):
        blocks[_decisive(one.form)].append(place)
    for block in blocks.values():
        index, followers = AlikeIndex(ALIKE), set[str]()
        for place in block if len(block) > 1 else ():
            one = forms[place]
            found = sorted(
                ((score, int(name)) for name, score in index.add(str(place), one.form) if name not in followers), reverse=True
            )
            for words, other in found[:CANDIDATES]:
                if _follows(joined, forms[other], one, words):
                    followers.add(str(place))
                    break


def _follows(joined: _Joined[K], leader: _Form[K], one: _Form[K], words: float) -> bool:
    """Link a lemma with the leader of a group if they are alike. `words`: the share of common tokens."""
    score = min(words, _in_order(one.form, leader.form))
    if score < ALIKE or _speak_of_others(one.form, leader.form) or not _have_one_order(one.form, leader.form):
        return False
    if not leader.takes(one) or not joined.link(leader.key, one.key, How.ALIKE, score):
        return False
    leader.letters += one.letters
    return True


def _in_order(one: str, other: str) -> float:
    """The share of the tokens that both statements have in the same order, from 0 to 1: "A implies B" is not "B implies A"."""
    return SequenceMatcher(None, TOKEN.findall(one), TOKEN.findall(other), autojunk=False).ratio()


def _have_one_order(one: str, other: str) -> bool:
    """Whether the tokens that both statements have equally often are in one order, without connecting words: of "m divides n"
    and "n divides m" only one may hold, however long the rest is that they share.
    """
    first, second = ([token for token in TOKEN.findall(form) if not _CONNECTING.fullmatch(token)] for form in (one, other))
    often, also = Counter(first), Counter(second)
    common = {token for token, number in often.items() if also[token] == number}
    return [token for token in first if token in common] == [token for token in second if token in common]


def _speak_of_others(one: str, other: str) -> bool:
    """Whether one statement has a word that the other lacks, such as "triangle" or "strictly"; without connecting words."""
    first, second = (
        {word.rstrip("s") for word in _WORD.findall(form) if not _CONNECTING.fullmatch(word)} for form in (one, other)
    )
    return first != second


def _decisive(form: str) -> tuple[str, ...]:
    """Numbers, relations and decisive words, sorted: statements that differ in one of them do not say the same."""
    return tuple(sorted(piece for piece in TOKEN.findall(form) if _DECISIVE.fullmatch(piece)))


def _letters_of(text: str) -> frozenset[str]:
    """The letters in the formulas of a text."""
    formulas = FORMULA.split(text)[1::2]
    return frozenset(found[1] for formula in formulas for found in _LETTER.finditer(formula) if found[1])


def _renamed(one: _Form[K], text: str, kept: frozenset[str]) -> _Form[K]:
    """The form in which the variables of formulas are named by their order, except those in `kept`."""
    names: dict[str, str] = {}
    pieces = FORMULA.split(text)
    pieces[1::2] = [_LETTER.sub(lambda found: _name_of(found, kept, names), piece) for piece in pieces[1::2]]
    return _Form(one.key, normalise_statement("".join(pieces)) if names else one.form, [tuple(names)])


def _name_of(found: re.Match[str], kept: frozenset[str], names: dict[str, str]) -> str:
    letter = found[1]
    if not letter or letter in kept:
        return found[0]
    return names.setdefault(letter, rf"\variable{_ALPHABET[len(names) // 26]}{_ALPHABET[len(names) % 26]} ")
