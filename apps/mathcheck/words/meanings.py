r"""Signs and words with an unusual meaning: Legendre symbols, cycles of permutations, other additions.

A formula that may have such a meaning is never refuted.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from apps.mathcheck.claims import Claim, Link
from apps.mathcheck.tex.lexing import Token
from apps.mathcheck.tex.modular import SHORT
from apps.mathcheck.tex.relations import CLOSING, OPENING
from apps.mathcheck.tex.tree import Node, is_bare_number, walk
from apps.mathcheck.words.vocabulary import is_read

LEGENDRE = "a fraction in brackets may be a Legendre symbol"
CYCLES = "bracketed digits may be cycles of permutations"
GROUPED = "a comma or dot in a number may be meant in two ways"
ROUNDED = "a rounded decimal"
OTHER_ADDITION = "so small a result suggests another addition or multiplication"
STRINGS = "digits that may be words or numerals of another kind"
SIXTIES = "a dot that may separate hours and minutes, or feet and inches"
OPEN_SUM = "it is not clear where the sum ends"
OTHER_DASH = "a dash that may not be a derivative"

_SYMBOLS = re.compile(
    r"\b(?:Legendre|Jacobi|Kronecker|reciprocity|(?:non-?)?residues?|symbols?)\b|\bEuler['’]?s?\s+criterion|\bcriterion\s+of\s+Euler"
    r"|\bsquares?\s+mod",
    re.IGNORECASE,
)
_SIXTIES = re.compile(
    r"\b(?:hours?|minutes?|times?|o['’]?clock|feet|foot|inch(?:es)?|degrees?|pounds?|ounces?|shillings?)\b", re.IGNORECASE
)
_SIGN = re.compile(r"[+-]?(?:[012]$|\(-1\)\^)")
_NEW_NAME = re.compile(
    r"\b(?:next|another|other|call(?:s|ed)?|named?|new|neighbou?rs?|list|companion|image|copy|variants?|modif\w+|replac\w+|moved|shifted"
    r"|stands?|denot\w+|write|notation|dash(?:es)?|primes?|primed|transform\w*|opposite|partner|reversed|reciprocal)\b",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"\b(?:shift\w*|dual\w*|replac\w*|transform\w*|discrete|(?:anti|logarithmic\s+)derivative|differences?)\b", re.I
)
_DASH_DEFINED = re.compile(
    r"\b(?:write|denote|denoting|call|mean|define|dash|let)\b[^.]{0,60}[A-Za-z](?:'|\^\{?\\prime)", re.IGNORECASE
)


def other_notation(link: Link, said: str) -> str:
    """Why the signs of a link may have an unusual meaning, or "". `said` is the text up to the end of the sentence."""
    sides = [list(link.left), list(link.right)]
    symbols = [_symbols(side) for side in sides]
    if any(symbols) and (
        link.modulus is not None
        or any(has and (other or _is_sign(side)) for has, other, side in zip(symbols, symbols[::-1], sides[::-1], strict=True))
        or _SYMBOLS.search(said)
    ):
        return LEGENDRE
    if _are_cycles(sides):
        return CYCLES
    numbers = [token for side in sides for token in side if token.kind == "num"]
    if any(re.match(r"0\d", token.text) for token in numbers):
        return STRINGS
    if any(_is_grouped(token) for token in numbers):
        return GROUPED
    if any("." in token.text for token in numbers) and _SIXTIES.search(said[-SHORT:]):
        return SIXTIES
    tens = any(one.text == "10" and two.text == "^" for side in sides for one, two in pairwise(side))
    return ROUNDED if tens and any("." in token.text for token in numbers) else ""


def _is_sign(side: Sequence[Token]) -> bool:
    """Whether it is ±1, 0, 2, or a power of −1, the values of a symbol or of a short sum of symbols."""
    return _SIGN.match("".join(token.text for token in side)) is not None


def _symbols(side: Sequence[Token]) -> int:
    r"""The number of brackets that contain only a fraction."""
    return sum(1 for inner in _bracketed(side) if _is_fraction(inner))


def _bracketed(side: Sequence[Token]) -> list[Sequence[Token]]:
    """The contents of each pair of round brackets."""
    opened, found = list[int](), list[Sequence[Token]]()
    for place, token in enumerate(side):
        if token.text == "(":
            opened.append(place)
        elif token.text == ")" and opened:
            found.append(side[opened.pop() + 1 : place])
    return found


def _is_fraction(inner: Sequence[Token]) -> bool:
    if not inner:
        return False
    if inner[0].text != r"\frac":
        slashes = [place for place, token in enumerate(inner) if token.text == "/"]
        plain = all(token.kind in ("num", "letter") or token.text in ("/", "-") for token in inner)
        return len(slashes) == 1 and plain and 0 < slashes[0] < len(inner) - 1 and len(inner) <= 4
    place = 1
    for _ in range(2):
        if place == 1 and len(inner) == 2 and len(inner[1].text) == 2:
            return True
        place = _after_argument(inner, place)
    return place == len(inner)


def _after_argument(inner: Sequence[Token], place: int) -> int:
    """The place after a TeX argument."""
    depth = 0
    while place < len(inner):
        depth += (inner[place].text in OPENING) - (inner[place].text in CLOSING)
        place += 1
        if depth <= 0:
            break
    return place


def _are_cycles(sides: Sequence[Sequence[Token]]) -> bool:
    """Whether brackets may be cycles, as in `(12)(23)=(123)` and `(12)^2=1`: different digits, several pairs or a power 1."""
    inside = [inner[0].text for side in sides for inner in _bracketed(side) if len(inner) == 1 and inner[0].kind == "num"]
    long = [text for text in inside if len(text) > 1]
    if not long or not all(text.isdigit() and len(set(text)) == len(text) for text in long):
        return False
    return len(inside) > 1 or any([token.text for token in side] == ["1"] for side in sides)


def _is_grouped(token: Token) -> bool:
    r"""Whether the separator may mark thousands or decimals, as in `3{,}125` and `2.500`."""
    by_comma = token.end - token.start == len(token.text) + len("{,}")
    return by_comma or re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", token.text) is not None


def other_meaning(claim: Claim, link: Link, words: str, before: str) -> str:
    """Why the claim may have an unusual meaning, judged by the words of its sentence and the text before, or ""."""
    if claim.relation == "=" and any(_is_other_addition(one.left, one.right) for one in claim.variants):
        return OTHER_ADDITION
    if any(_is_open_sum(part) for one in claim.variants for side in (one.left, one.right) for part in walk(side)):
        return OPEN_SUM
    if claim.differentiated and any(token.text == "'" for token in (*link.left, *link.right)):
        near = before[-SHORT:]
        if not is_read(words) or any((_NEW_NAME.search(words), _DASH_DEFINED.search(before), _CHANGED.search(near))):
            return OTHER_DASH
    return ""


def _is_other_addition(left: Node, right: Node) -> bool:
    r"""Whether a result suggests another addition, as in `5+4=2`, `7\cdot8=6`, `3^4=1`, or `3+4=34`. No slip gives these."""
    for written, result in ((left, right), (right, left)):
        if not is_bare_number(result) or is_bare_number(written):
            continue
        value = -_literal(result.args[0]) if result.op == "neg" else _literal(result)
        parts = list(walk(written))
        numbers = [_literal(part) for part in parts if part.op == "num"]
        factorial = any(part.op == "fn" and part.value == "factorial" for part in parts)
        known = all(part.op in ("add", "mul", "num", "pow") or (part.op == "fn" and factorial) for part in parts)
        raised = factorial or any(part.op == "pow" for part in parts)
        if any(number.denominator > 1 for number in numbers):
            continue
        if known and str(value) == "".join(str(number) for number in numbers):
            return True
        if known and value <= (1 if raised else max(numbers)):
            return True
    return False


def _literal(node: Node) -> Fraction:
    return Fraction(node.value or 0)


def _is_open_sum(node: Node) -> bool:
    r"""Whether a later term may belong to the sum, as the 1 in `\sum_{k=1}^n k+1`."""
    return node.op == "add" and any(_ends_in_sum(part) for part in node.args[:-1])


def _ends_in_sum(node: Node) -> bool:
    last = node
    while last.op in ("neg", "mul"):
        last = last.args[-1]
    return last.op in ("sum", "prod") and len(last.args) == 3
