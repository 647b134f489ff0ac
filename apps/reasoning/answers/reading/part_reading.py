"""Read one part of an answer: a relation, a set, a tuple, an interval, an expression with its unit."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise

from apps.reasoning.answers.reading.lists import around, as_region, is_region, set_of, term_of, union
from apps.reasoning.answers.reading.slicing import (
    RELATIONS,
    Tokens,
    at_depth_zero,
    closing_of,
    has_separator,
    name_of,
    names_of,
    split,
    trimmed,
)
from apps.reasoning.answers.reading.term_reading import TermReader
from apps.reasoning.answers.values.equality import terms_equal
from apps.reasoning.answers.values.regions import region_of
from apps.reasoning.answers.values.shapes import (
    Approximate,
    Assigned,
    Class,
    Equation,
    Many,
    Named,
    Ordered,
    Piece,
    Region,
    Run,
    Scalar,
    Shape,
)
from apps.reasoning.answers.values.terms import Term, add, minus, names, number, signs
from apps.reasoning.answers.vocabulary import COUNTED_WITHOUT, DEGREES, FILLERS, POWERS, PRAISE, SETS, unit_of
from apps.reasoning.answers.work import Unreadable, Work

_CLOSED_BY = {"(": (")", "]"), "[": ("]", ")"), "{": ("}",), r"\{": (r"\}", "}")}


class PartReader(ABC):
    """`modes` and `met` as in `TermReader`."""

    def __init__(self, work: Work, modes: frozenset[str]) -> None:
        self.work = work
        self.modes = modes
        self.met: set[str] = set()

    @abstractmethod
    def _whole(self, given: Tokens) -> Shape:
        """Read what may be a list again."""

    def _single(self, given: Tokens) -> Shape:
        if not given:
            raise Unreadable("a part of it is empty")
        relations = [place for place in at_depth_zero(given) if given[place].text in RELATIONS]
        if relations:
            return self._related(given, relations)
        members = [place for place in at_depth_zero(given) if given[place].text == r"\in"]
        if members:
            return self._member(given, members[0])
        for sign in (r"\cup", r"\setminus"):
            if any(given[place].text == sign for place in at_depth_zero(given)):
                return self._combined(given, sign)
        return self._enclosed(given) or self._measured(given)

    def _member(self, given: Tokens, place: int) -> Shape:
        inside = self._whole(given[place + 1 :])
        name = name_of(given[:place])
        if name is None:
            raise Unreadable("a member of the set is not a name")
        return inside if isinstance(inside, Region | Class) else Named(name[0], name[1], inside)

    def _combined(self, given: Tokens, sign: str) -> Shape:
        parts = [self._whole(part) for part in split(given, (sign,))]
        if sign == r"\cup":
            if any(map(is_region, parts)):
                return union([as_region(one) for one in parts], self.work)
            return set_of([Many(one.items) if isinstance(one, Many) else one for one in parts])
        if len(parts) != 2 or not isinstance(whole := as_region(parts[0]), Region):
            raise Unreadable("what is taken away from what is not read")
        holes = parts[1].items if isinstance(parts[1], Many) else (parts[1],)
        return region_of([whole, *(Region(around(term_of(one)), True) for one in holes)], self.work, has_and=True)

    def _related(self, given: Tokens, places: Sequence[int]) -> Shape:
        signs_ = [given[place].text for place in places]
        bounds = [-1, *places, len(given)]
        sides = [given[start + 1 : end] for start, end in pairwise(bounds)]
        if not all(sides):
            raise Unreadable("a side of a relation is empty")
        if set(signs_) == {"="}:
            return self._equalled(sides)
        if signs_[-1] == r"\approx" and signs_[:-1] in ([], ["="]):
            return self._rounded(sides)
        if signs_ == [r"\ne"]:
            self._variable(sides[0])
            return Region(around(self._term(sides[1])), True)
        if r"\equiv" in signs_ or r"\ne" in signs_ or "=" in signs_ or r"\approx" in signs_:
            raise Unreadable("relations of this kind are not read")
        return self._inequality(sides, signs_)

    def _equalled(self, sides: Sequence[Tokens]) -> Shape:
        if name := name_of(sides[0]):
            if all(name_of(side) and not (name_of(side) or ("", ()))[1] for side in sides[:-1]) and len(sides) > 2:
                value = self._whole(sides[-1])
                return Assigned(tuple(((name_of(side) or ("", ()))[0], value) for side in sides[:-1]))
            return Named(name[0], name[1], self._single(sides[-1]))
        if len(sides) == 2 and (several := names_of(sides[0])):
            values = self._single(sides[1])
            if isinstance(values, Ordered) and len(values.items) == len(several):
                return Assigned(tuple(zip(several, values.items, strict=True)))
        try:
            left = self._term(sides[0])
        except Unreadable:
            if sides[0][0].kind not in ("word", "command"):
                raise
            return self._single(sides[-1])  # A name in words or for a figure, such as an angle.
        right = self._term(sides[-1])
        if names(left) and len(sides) == 2:
            return Equation(add(left, minus(right)))
        if not names(left) and terms_equal(left, right, self.work).outcome != "equal":
            raise Unreadable("its sides are not equal")
        return Scalar(right)

    def _rounded(self, sides: Sequence[Tokens]) -> Shape:
        """`x ≈ 1.41` is rounded, `√2 ≈ 1.41` and `x = √2 ≈ 1.41` are exact."""
        if len(sides) == 3 or name_of(sides[0]) is None:
            return Scalar(self._term(sides[-2]))
        return Approximate(self._term(sides[-1]), len(sides[-1][-1].text.partition(".")[2]))

    def _inequality(self, sides: Sequence[Tokens], relations: Sequence[str]) -> Shape:
        if len({one in ("<", r"\le") for one in relations}) > 1 or len(sides) > 3:
            raise Unreadable("inequalities in both directions are not read")
        if relations[0] not in ("<", r"\le"):
            sides, turned = sides[::-1], {">": "<", r"\ge": r"\le"}
            relations = [turned[one] for one in reversed(relations)]
        place = 1 if len(sides) == 3 else next((n for n, side in enumerate(sides) if self._is_variable(side)), -1)
        if place < 0:
            raise Unreadable("an inequality without a single letter on a side is not read")
        self._variable(sides[place])
        low = self._term(sides[place - 1]) if place else None
        high = self._term(sides[place + 1]) if place + 1 < len(sides) else None
        strict_low = low is None or relations[place - 1] == "<"
        strict_high = high is None or relations[place] == "<"
        return Region((Piece(_finite(low), _finite(high), not strict_low, not strict_high),), True)

    def _is_variable(self, side: Tokens) -> bool:
        found = name_of(side)
        return found is not None and not found[1]

    def _variable(self, side: Tokens) -> None:
        if not self._is_variable(side):
            raise Unreadable("an inequality for an expression is not read")

    def _enclosed(self, given: Tokens) -> Shape | None:
        """A set, a tuple, an interval or the name of a set."""
        first, last = given[0].text, given[-1].text
        if first == r"\emptyset" and len(given) == 1:
            return Many(())
        if first == r"\mathbb":
            return _named_set(given[1:])
        if closing_of(given) != len(given) - 1 or first not in _CLOSED_BY:
            return None
        if last not in _CLOSED_BY[first]:
            raise Unreadable(f"“{first}” is closed by “{last}”")
        inside = given[1:-1]
        parts = split(inside, (",",))
        if first == r"\{" or (first == "{" and len(parts) > 1):
            return self._set(inside)
        if first == "{":
            return None
        if len(parts) < 2:
            return None if first == "(" and not has_separator(inside) else self._whole(inside) if first == "(" else None
        has_infinity = any(one.text == r"\infty" for one in inside)
        if first == "[" or last == "]" or (len(parts) == 2 and has_infinity):
            return self._interval(parts, first == "[", last == "]")
        return self._tuple([trimmed(part) for part in parts])

    def _set(self, inside: Tokens) -> Shape:
        if not inside:
            return Many(())
        if any(inside[place].text in (":", "|", r"\mid") for place in at_depth_zero(inside)):
            raise Unreadable("a set by a condition is not read")
        found = self._whole(inside)
        is_list = isinstance(found, Many) and not found.is_braced and (found.items or inside[0].text != r"\emptyset")
        return (
            Many(found.items if is_list and isinstance(found, Many) else (found,), True)
            if not isinstance(found, Run)
            else found
        )

    def _tuple(self, parts: Sequence[Tokens]) -> Shape:
        """With ± in one entry, two tuples."""
        entries = [self._single(part) for part in parts]
        signed = [place for place, part in enumerate(parts) if any(one.text in (r"\pm", r"\mp") for one in part)]
        if not signed:
            return Ordered(tuple(entries))
        both = entries[signed[0]]
        if len(signed) > 1 or not isinstance(both, Many):
            raise Unreadable("which signs belong together is not clear")
        return Many(tuple(Ordered((*entries[: signed[0]], one, *entries[signed[0] + 1 :])) for one in both.items))

    def _interval(self, parts: Sequence[Tokens], has_low: bool, has_high: bool) -> Shape:
        if len(parts) != 2:
            raise Unreadable("an interval has two ends")
        low, high = (_finite(self._term(part)) for part in parts)
        return Region((Piece(low, high, has_low and low is not None, has_high and high is not None),))

    # --- expressions -------------------------------------------------------------------------------------------------

    def _measured(self, given: Tokens) -> Shape:
        """An expression with a unit, or with a word that counts something, after it."""
        end = len(given)
        while end and given[end - 1].kind == "word":
            end -= 1
        power = 1
        if end > 2 and given[end - 2].text == "^" and given[end - 3].kind == "word" and given[end - 1].text in ("2", "3"):
            power, end = int(given[end - 1].text), end - 3
        words = [one.text for one in given[end:] if one.kind == "word" and one.text not in ("the", "of")]
        if words and words[0] in ("is", "are") and set(words) <= FILLERS | PRAISE:
            words = []
        body = given[:end]
        if body and body[-1].text == "%":
            body, words = body[:-1], ["percent", *words]
        if len(body) > 1 and body[0].kind == "word" and body[0].text in ("dollars", "euros"):
            body, words = body[1:], [body[0].text, *words]
        if not body:
            raise Unreadable("it is in words")
        term = self._term(body)
        if not words:
            return self._both(term, "")
        if set(words) & DEGREES and len(words) == 1:
            return self._both(Term("degrees", (term,)), "")
        power = next((POWERS[word] for word in words if word in POWERS), power)
        words = [word for word in words if word not in POWERS]
        if len(words) == 1 and (unit := unit_of(words[0], power)):
            return self._both(Term("mul", (number(unit[1]), term)), unit[0])
        if len(words) > 3 or COUNTED_WITHOUT.intersection(words):
            raise Unreadable("it is in words")
        return self._both(term, " ".join(("?", *words)))

    def _both(self, term: Term, unit: str) -> Shape:
        several = [Scalar(one, unit) for one in signs(term)]
        return several[0] if len(several) == 1 else Many(tuple(several))

    def _term(self, given: Tokens) -> Term:
        if not given:
            raise Unreadable("a part of it is empty")
        self.work.spend(len(given))
        reader = TermReader(given, self.modes)
        found = reader.read()
        self.met |= reader.met
        return found


def _named_set(given: Tokens) -> Shape:
    letters = [one.text for one in given if one.text not in "{}_^"]
    if not letters or letters[0] not in SETS:
        raise Unreadable("it names a set that is not known here")
    base = SETS[letters[0]]
    if len(letters) == 1:
        return Region((Piece(None, None, False, False),)) if base.base == "reals" else base
    signed = {"+": "positive", "-": "negative", ">0": "positive", r"\ge0": "nonnegative", "*": ""}.get("".join(letters[1:]))
    if not signed or base.base not in ("reals", "integers", "rationals"):
        raise Unreadable("which numbers belong to the set is not clear")
    if base.base == "reals":
        zero = number(0)
        low, high = (None, zero) if signed == "negative" else (zero, None)
        return Region((Piece(low, high, signed == "nonnegative", False),))
    return Class(base.base, signed)  # type: ignore[arg-type]


def _finite(term: Term | None) -> Term | None:
    return None if term is None or any(one == Term("name", (), r"\infty") for one in (term, *term.args)) else term
