"""Whether two answers that were read are equal, by the kinds of their shapes."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from apps.reasoning.answers.outcomes import Comparison, all_of, different, equal, undecided
from apps.reasoning.answers.values.equality import difference, number_sign, terms_equal
from apps.reasoning.answers.values.region_equality import MOST_NUMBERS, exact, region_against, regions_equal
from apps.reasoning.answers.values.shapes import (
    Approximate,
    Assigned,
    Class,
    Conditioned,
    Equation,
    Many,
    Named,
    Ordered,
    Region,
    Run,
    Scalar,
    Shape,
    Words,
    letters_of,
    renamed,
)
from apps.reasoning.answers.values.terms import MINUS_ONE, Term, add, mul, names, nodes, number, replaced, without_degrees
from apps.reasoning.answers.work import Work


def shapes_equal(one: Shape, two: Shape, work: Work) -> Comparison:
    """Raises `TooMuchWork`."""
    work.spend(1)
    if words := next((shape for shape in (one, two) if isinstance(shape, Words)), None):
        return undecided(f"“{short(words.text.strip())}” could not be read: {words.why}")
    for kind, rule in _BY_KIND:
        if isinstance(one, kind) and isinstance(two, kind):
            return rule(one, two, work)
        for first, second in ((one, two), (two, one)):
            if isinstance(first, kind) and (mixed := _MIXED_RULES.get(kind)):
                found = mixed(first, second, work)
                if found is not None:
                    return found
    return _kinds(one, two)


def short(text: str, most: int = 60) -> str:
    """A text for a message."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


# --- numbers and expressions -----------------------------------------------------------------------------------------


def _scalars(one: Scalar, two: Scalar, work: Work) -> Comparison:
    found = terms_equal(one.term, two.term, work)
    if one.unit == two.unit:
        return found if found.outcome != "different" else _by_degrees(one.term, two.term, found, work)
    if one.unit and two.unit:
        if one.unit.startswith("?") or two.unit.startswith("?"):
            words = " and ".join(f"“{each.removeprefix('? ')}”" for each in (one.unit, two.unit))
            return undecided(f"what they count differs: {words}")
        return different("their units measure different things")
    measured, bare = (one, two) if one.unit else (two, one)
    if measured.unit.startswith("?") or found.outcome != "different":
        return found
    if measured.unit == "percent":
        share = terms_equal(mul(number(100), measured.term), bare.term, work)
        return undecided("only one of them is in percent") if share.outcome == "equal" else found
    # A number without a unit counts in the unit of the other.
    return terms_equal(measured.term.args[1], bare.term, work)


def _by_degrees(one: Term, two: Term, found: Comparison, work: Work) -> Comparison:
    """An angle of 45° was asked for in degrees as 45; whether 45 and π/4 are meant alike is not known."""
    bare = [without_degrees(term) for term in (one, two)]
    if (bare[0] == one) != (bare[1] == two):
        return terms_equal(bare[0], bare[1], work)
    degrees = [Term("degrees", (term,)) for term in (one, two)]
    for first, second in ((degrees[0], two), (one, degrees[1])):
        has_pi = [any(each.value == "π" for each in nodes(term)) for term in (one, two)]
        if has_pi[0] != has_pi[1] and terms_equal(first, second, work).outcome == "equal":
            return undecided("one may be in degrees and the other in radians")
    return found


def _approximate(one: Approximate, two: Shape, work: Work) -> Comparison | None:
    if not isinstance(two, Scalar | Approximate):
        return None
    if names(two.term):
        return undecided("one of them is rounded")
    half, gap = number(Fraction(1, 10**one.digits)), difference(one.term, two.term)
    signs = [number_sign(difference(half, each), work) for each in (gap, mul(MINUS_ONE, gap))]
    return different("further apart than rounding explains") if -1 in signs else undecided("one of them is rounded")


def _rounded(one: Approximate, two: Approximate, work: Work) -> Comparison:
    return _approximate(one, two, work) or undecided("both are rounded")


def _equations(one: Equation, two: Equation, work: Work) -> Comparison:
    if any(terms_equal(each, two.term, work).outcome == "equal" for each in (one.term, mul(MINUS_ONE, one.term))):
        return equal("the same equation")
    return undecided("two equations that may have the same solutions")


# --- names and conditions --------------------------------------------------------------------------------------------


def _conditions(one: Conditioned, two: Conditioned, work: Work) -> Comparison:
    if one.condition == two.condition:
        return shapes_equal(one.value, two.value, work)
    return undecided(f"they have different conditions: “{short(one.condition)}” and “{short(two.condition)}”")


def _condition_against(one: Conditioned, two: Shape, work: Work) -> Comparison:
    return undecided(f"only one of them has a condition: “{short(one.condition)}”")


def _named(one: Named, two: Named, work: Work) -> Comparison:
    if len(one.args) != len(two.args):
        return undecided("a function is compared with what is not one")
    other = renamed(two.value, dict(zip(two.args, one.args, strict=True))) if one.args else two.value
    found = _formula(one, other, work)
    if found.outcome == "different" and not one.args and _is_shifted(one, two, work):
        return undecided("they may be the same family, counted from another place")
    if one.name != two.name and found.outcome == "equal":
        return undecided(f"their values are equal, but one is called {one.name} and the other {two.name}")
    return found


def _is_shifted(one: Named, two: Named, work: Work) -> bool:
    """Whether `n = 4k + 3` and `n = 4k − 1` differ in where k begins."""
    if not (isinstance(one.value, Scalar) and isinstance(two.value, Scalar)):
        return False
    letters = letters_of(one.value)
    if letters != letters_of(two.value) or len(letters) != 1:
        return False
    (letter,) = letters
    shifted = [replaced(two.value.term, {letter: add(Term("name", (), letter), number(by))}) for by in (-1, 1)]
    return any(terms_equal(one.value.term, each, work).outcome == "equal" for each in shifted)


def _named_against(one: Named, two: Shape, work: Work) -> Comparison | None:
    return None if isinstance(two, Assigned) else _formula(one, two, work)


def _formula(one: Named, two: Shape, work: Work) -> Comparison:
    """Letters of a function other than its arguments may be free constants, so different values decide nothing."""
    found = shapes_equal(one.value, two, work)
    free = (letters_of(one.value) | letters_of(two)) - set(one.args)
    if found.outcome != "different" or not one.args or not free:
        return found
    return undecided(f"they have constants ({', '.join(sorted(free))}) that may be the same under other names")


def _assigned(one: Assigned, two: Assigned, work: Work) -> Comparison:
    values = dict(two.pairs)
    if dict(one.pairs).keys() != values.keys():
        return undecided("they give values to different letters")
    return all_of(shapes_equal(value, values[name], work) for name, value in one.pairs)


def _assigned_against(one: Assigned, two: Shape, work: Work) -> Comparison:
    """A tuple has its entries in the order of the letters: as written, or of the alphabet."""
    if not isinstance(two, Ordered):
        return undecided("values of several letters are compared with something else")
    by_name = sorted(one.pairs, key=lambda pair: pair[0])
    orders = [list(one.pairs)] if list(one.pairs) == by_name else [list(one.pairs), by_name]
    found = [_entries([value for _, value in pairs], two.items, work) for pairs in orders]
    if len(one.pairs) != len(two.items) or len(found) == 1:
        return found[0]
    alike = next((each for each in found if each.outcome == "equal"), None)
    return alike or undecided("which letter an entry belongs to is not said")


# --- sets, tuples, sequences -----------------------------------------------------------------------------------------


def _sets(one: Many, two: Many, work: Work) -> Comparison:
    """Each member of one has an equal one in the other. A member that differs from all others decides."""
    if bool(one.items) != bool(two.items):
        some, *more = (*one.items, *two.items)
        is_set = more or not isinstance(some, Scalar)
        return different("only one of them is empty") if is_set else shapes_equal(Many(()), some, work)
    table = [[shapes_equal(first, second, work) for second in two.items] for first in one.items]
    doubt: Comparison | None = None
    for line in (*table, *zip(*table, strict=True)):
        outcomes = {each.outcome for each in line}
        if outcomes == {"different"}:
            return different("a value of one of them is not among those of the other")
        if "equal" not in outcomes:
            doubt = doubt or next(each for each in line if each.outcome == "undecided")
    return doubt or equal("the same set")


def _only_member(one: Many, two: Shape, work: Work) -> Comparison | None:
    if not one.items and isinstance(two, Scalar) and not letters_of(two) and number_sign(two.term, work) == 0:
        return undecided("one says that there is none and the other is 0, which may count them")
    if len(one.items) == 1 and not isinstance(one.items[0], Many):
        return shapes_equal(one.items[0], two, work)
    is_same = isinstance(two, Scalar) and {shapes_equal(each, two, work).outcome for each in one.items} == {"equal"}
    return equal("the same value, written several times") if is_same else None


def _tuples(one: Ordered, two: Ordered, work: Work) -> Comparison:
    return _entries(one.items, two.items, work)


def _entries(one: Sequence[Shape], two: Sequence[Shape], work: Work) -> Comparison:
    if len(one) != len(two):
        return different("tuples of different lengths")
    found = all_of([shapes_equal(first, second, work) for first, second in zip(one, two, strict=True)])
    return equal("equal in every entry") if found.outcome == "equal" else found


def _runs(one: Run, two: Run, work: Work) -> Comparison:
    if one.last is None or two.last is None:
        if one.last is not two.last:
            return different("only one of the sequences ends")
        pairs = [(one.first, two.first), (one.step, two.step)]
    else:
        pairs = [(one.first, two.first), (one.step, two.step), (one.last, two.last)]
    return all_of(terms_equal(first, second, work) for first, second in pairs)


def _run_against(one: Run, two: Shape, work: Work) -> Comparison | None:
    if isinstance(two, Scalar):
        return different("a list of values against one value")
    if not isinstance(two, Many):
        return None
    if one.last is None:
        return different("only one of them is infinite")
    first, step, last = (exact(term, work) for term in (one.first, one.step, one.last))
    if first is None or not step or last is None:
        return undecided("a list with dots is compared with something else")
    count = (last - first) / step + 1
    if count.denominator != 1 or count < 1:
        return undecided("it is not clear which values the dots replace")
    if count > MOST_NUMBERS:
        return different("sets of different size")
    return _sets(Many(tuple(Scalar(number(first + step * each)) for each in range(int(count)))), two, work)


# --- classes, and different kinds ------------------------------------------------------------------------------------


def _classes(one: Class, two: Class, work: Work) -> Comparison:
    if one == two:
        return equal("the same class")
    if "yes" in (one.base, two.base) or "no" in (one.base, two.base):
        return different("yes and no") if {one.base, two.base} == {"yes", "no"} else undecided("one of them is yes or no")
    if one.base == two.base:
        says = bool(one.sign and two.sign)
        return different("different signs") if says else undecided("which signs are meant is not said by both")
    if {one.base, two.base} == {"natural", "integers"}:
        return undecided("whether 0 is a natural number is not said")
    return different("different classes of numbers")


def _class_against(one: Class, two: Shape, work: Work) -> Comparison | None:
    is_number = isinstance(two, Many | Scalar | Ordered) and not letters_of(two)
    return different("a class of numbers against numbers") if is_number else undecided("a class of numbers against a formula")


def _kinds(one: Shape, two: Shape) -> Comparison:
    kinds = {type(one), type(two)}
    if kinds == {Ordered, Many}:
        ordered, many = sorted((one, two), key=lambda each: isinstance(each, Many))
        if isinstance(ordered, Ordered) and isinstance(many, Many) and set(ordered.items) == set(many.items):
            return undecided("whether the order counts is not clear")
    if kinds <= {Ordered, Many, Scalar}:
        return different("one value against several, or a tuple against another kind of value")
    return undecided("they are answers of different kinds")


_Rule = Callable[[Any, Any, Work], Comparison]
_BY_KIND: tuple[tuple[type, _Rule], ...] = (
    (Conditioned, _conditions),
    (Named, _named),
    (Assigned, _assigned),
    (Approximate, _rounded),
    (Equation, _equations),
    (Scalar, _scalars),
    (Many, _sets),
    (Run, _runs),
    (Region, regions_equal),
    (Ordered, _tuples),
    (Class, _classes),
)
_MIXED_RULES: dict[type, Callable[[Any, Any, Work], Comparison | None]] = {
    Conditioned: _condition_against,
    Named: _named_against,
    Assigned: _assigned_against,
    Approximate: _approximate,
    Many: _only_member,
    Run: _run_against,
    Region: region_against,
    Class: _class_against,
}
