"""Cutting the tokens of an answer: at separators outside brackets, around names, without words that say nothing."""

from collections.abc import Sequence

from apps.reasoning.answers.reading.lexing import Token
from apps.reasoning.answers.vocabulary import FILLERS, FREE_WORDS, class_of, words

Tokens = Sequence[Token]
RELATIONS = ("=", "<", ">", r"\le", r"\ge", r"\ne", r"\equiv", r"\approx")
OR, AND = ("or", ";"), (",", "and")
_OPENING, _CLOSING = ("(", "[", "{", r"\{", r"\lfloor", r"\lceil"), (")", "]", "}", r"\}", r"\rfloor", r"\rceil")
_NO_NAMES = words(r"\frac \sqrt \binom \pi e \infty \mathbb \log \ln \sin \cos \tan \emptyset \{")


def trimmed(given: Tokens) -> Tokens:
    """Without full stops, commas and words that say nothing at the ends."""
    start, end = 0, len(given)
    while end > start and given[end - 1].text in (".", ",", ";", ":", "and", "or"):
        end -= 1
    has_more = any(one.kind != "word" for one in given[:end])
    while start < end and (
        given[start].text in (":", ",", ".", "and", "or")
        or (has_more and given[start].kind == "word" and given[start].text in FILLERS)
    ):
        start += 1
    whole = [one.text for one in given[:end]]
    return given[:end] if start and class_of(whole) else given[start:end]


def is_free(condition: Tokens) -> bool:
    """Whether a condition allows every value: “for any constant c”, “where c is real”, “for all x in R”."""
    said = [one.text for one in condition if one.kind == "word"]
    others = [one for one in condition if one.kind != "word" and one.text not in (r"\in", r"\mathbb", "{", "}", ",")]
    return set(said) <= FREE_WORDS and all(one.kind == "name" for one in others) and len(condition) > 1


def at_depth_zero(given: Tokens) -> list[int]:
    found, depth = [], 0
    for place, one in enumerate(given):
        depth += (one.text in _OPENING) - (one.text in _CLOSING)
        if depth == 0:
            found.append(place)
    return found


def split(given: Tokens, separators: Sequence[str]) -> list[Tokens]:
    found: list[Tokens] = []
    start = 0
    for place in at_depth_zero(given):
        if given[place].text in separators:
            found.append(given[start:place])
            start = place + 1
    return [*found, given[start:]]


def closing_of(given: Tokens) -> int:
    """The place of the bracket that closes the first one; −1 where none does."""
    depth = 0
    for place, one in enumerate(given):
        depth += (one.text in _OPENING) - (one.text in _CLOSING)
        if not depth:
            return place if one.text in _CLOSING else -1
    return -1


def has_separator(given: Tokens) -> bool:
    return any(given[place].text in (*OR, *AND, *RELATIONS) for place in at_depth_zero(given))


def name_of(side: Tokens) -> tuple[str, tuple[str, ...]] | None:
    """A name with its arguments: `n`, `a_1`, `f(x)`."""
    head = [one.text for one in side]
    if not side or side[0].kind not in ("name", "command") or (side[0].kind == "command" and len(side[0].text) < 3):
        return None
    if side[0].text in _NO_NAMES:
        return None
    end = 1
    if head[1:2] == ["_"]:
        end = 3 if head[2:3] != ["{"] else head.index("}") + 1 if "}" in head else 3
    name = "".join(text for text in head[:end] if text not in "{}")
    if end >= len(side):
        return name, ()
    args = side[end:]
    if args[0].text != "(" or args[-1].text != ")" or any(one.kind != "name" and one.text != "," for one in args[1:-1]):
        return None
    return name, tuple(one.text for one in args[1:-1] if one.kind == "name")


def names_of(side: Tokens) -> tuple[str, ...]:
    """The names of `(x, y, z)`."""
    if side[0].text != "(" or side[-1].text != ")":
        return ()
    found = [name_of(part) for part in split(side[1:-1], (",",))]
    return tuple(one[0] for one in found if one) if all(one and not one[1] for one in found) else ()
