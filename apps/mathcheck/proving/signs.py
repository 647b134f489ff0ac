"""Proves that a polynomial is positive, or not negative, on the ranges of its names.

In order: non-negative coefficients after a shift to the lower bounds; one name decided by its real roots; a quadratic
polynomial as a sum of squares. `solver` is asked for the rest.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from sympy import QQ, Symbol
from sympy import Poly as Dense
from sympy.polys.polyerrors import PolynomialError

from apps.mathcheck.proving.facts import Bound
from apps.mathcheck.testing.work import METER, SYMPY, spend

HIGHEST_DEGREE, MOST_WHOLE = 24, 400


def sign_steps(poly: Any, names: Sequence[str], bounds: Mapping[str, Bound], strict: bool) -> tuple[str, ...] | None:
    """The lines of a proof that the polynomial is > 0 (`strict`) or ≥ 0; None if these methods find none."""
    spend(len(poly))
    used = [place for place in range(len(names)) if any(monomial[place] for monomial in poly.itermonoms())]
    shown = f"{poly.as_expr()} {'>' if strict else '≥'} 0".replace("**", "^")
    if not used:
        value = poly.coeff(1)
        return (shown,) if (value > 0 or (value == 0 and not strict)) else None
    found = _by_coefficients(poly, names, used, bounds, strict)
    if found is None and len(used) == 1:
        found = _in_one_name(poly, names[used[0]], used[0], bounds[names[used[0]]], strict)
    if found is None and not strict:
        found = _quadratic(poly, names, used)
    return (shown, *found) if found is not None else None


def _by_coefficients(
    poly: Any, names: Sequence[str], used: Sequence[int], bounds: Mapping[str, Bound], strict: bool
) -> tuple[str, ...] | None:
    """Every term is ≥ 0 after each name is measured from its lower bound (or, negated, from its upper bound)."""
    shifts, free = [], set[int]()
    for place in used:
        bound, generator = bounds[names[place]], poly.ring.gens[place]
        if bound.low is not None:
            low = Fraction(bound.start) if bound.whole else bound.low
            shifts.append((place, generator + QQ(low.numerator, low.denominator), f"{names[place]} = {low} + {names[place]}'"))
        elif bound.high is not None:
            high = Fraction(bound.end) if bound.whole else bound.high
            shifts.append(
                (place, QQ(high.numerator, high.denominator) - generator, f"{names[place]} = {high} - {names[place]}'")
            )
        else:
            free.add(place)
    spend(len(poly) * 10)
    moved = poly.compose([(poly.ring.gens[place], shift) for place, shift, _ in shifts]) if shifts else poly
    if any(value < 0 for value in moved.itercoeffs()):
        return None
    if any(monomial[place] % 2 for monomial in moved.itermonoms() for place in free):
        return None
    if strict and not _has_positive_term(moved, names, bounds, free):
        return None
    words = ", ".join(text for *_, text in shifts)
    return ((f"with {words}: " if words else "") + "every term is at least 0",)


def _has_positive_term(moved: Any, names: Sequence[str], bounds: Mapping[str, Bound], free: set[int]) -> bool:
    """Whether a term of the shifted polynomial is positive everywhere."""
    for monomial, value in moved.iterterms():
        places = [place for place, exponent in enumerate(monomial) if exponent]
        if value > 0 and all(place not in free and _is_strict(bounds[names[place]]) for place in places):
            return True
    return False


def _is_strict(bound: Bound) -> bool:
    """Whether the distance to the bound of `_by_coefficients` is never 0."""
    return not bound.whole and (bound.low_strict if bound.low is not None else bound.high_strict)


def _in_one_name(poly: Any, name: str, place: int, bound: Bound, strict: bool) -> tuple[str, ...] | None:
    """Decide a polynomial in one name by its real roots."""
    dense = _dense(poly, place)
    if dense.degree() > HIGHEST_DEGREE:
        return None
    METER.spent += SYMPY
    try:
        if bound.whole:
            return _at_whole_numbers(dense, name, bound, strict)
        return _on_interval(dense, name, bound, strict)
    except (PolynomialError, ValueError, ArithmeticError, NotImplementedError):
        return None


def _dense(poly: Any, place: int) -> Any:
    terms = {(monomial[place],): value for monomial, value in poly.iterterms()}
    return Dense.from_dict(terms, Symbol("x"), domain=QQ)


def _on_interval(dense: Any, name: str, bound: Bound, strict: bool) -> tuple[str, ...] | None:
    """No root in the range (for > 0), or none where the sign changes (for ≥ 0), and a positive value inside."""
    inside = _inside(bound)
    changing = dense
    if not strict:
        _, factors = dense.sqf_list()
        changing = dense.one
        for factor, times in factors:
            if times % 2:
                changing = changing * factor
    roots = _roots_between(changing, bound, closed=strict)
    value = dense.eval(inside)
    if roots == 0 and value > 0:
        kind = "no root" if strict else "no root of odd multiplicity"
        return (f"in {name} it has {kind} in the range (counted by Sturm's theorem); at {name} = {inside} it is {value}",)
    return None


def _inside(bound: Bound) -> Any:
    if bound.low is not None and bound.high is not None:
        middle = (bound.low + bound.high) / 2
    elif bound.low is not None:
        middle = bound.low + 1
    else:
        middle = bound.high - 1 if bound.high is not None else Fraction(0)
    return QQ(middle.numerator, middle.denominator)


def _roots_between(dense: Any, bound: Bound, closed: bool) -> int:
    """Real roots in the range; its ends count only if they belong to it and `closed` is set."""
    if dense.degree() <= 0:
        return 0
    low = None if bound.low is None else QQ(bound.low.numerator, bound.low.denominator)
    high = None if bound.high is None else QQ(bound.high.numerator, bound.high.denominator)
    count = int(dense.count_roots(low, high))
    for end, is_open in ((low, bound.low_strict), (high, bound.high_strict)):
        if end is not None and (is_open or not closed) and dense.eval(end) == 0:
            count -= 1
    return count


def _at_whole_numbers(dense: Any, name: str, bound: Bound, strict: bool) -> tuple[str, ...] | None:
    """Beyond all roots the sign is that of the leading term; the other whole numbers are tried one by one."""
    reach = _root_bound(dense)
    low = bound.start if bound.low is not None else -reach - 1
    high = bound.end if bound.high is not None else reach + 1
    if (low < -reach and dense.eval(-reach - 1) <= 0) or (high > reach and dense.eval(reach + 1) <= 0):
        return None
    low, high = max(low, -reach), min(high, reach)
    if high - low > MOST_WHOLE:
        return None
    spend((high - low + 1) * 4)
    if any(value < 0 or (strict and value == 0) for value in (dense.eval(whole) for whole in range(low, high + 1))):
        return None
    return (f"for whole {name}: it has no root beyond ±{reach}, and it was computed for every {name} from {low} to {high}",)


def _root_bound(dense: Any) -> int:
    """A whole number that no real root exceeds in absolute value (Cauchy's bound)."""
    leading, *rest = [abs(Fraction(int(one.numerator), int(one.denominator))) for one in dense.all_coeffs()]
    bound = 1 + max((one / leading for one in rest), default=Fraction(0))
    tighter = 2 * max((float(one / leading) ** (1 / (at + 1)) for at, one in enumerate(rest)), default=0.0)
    return int(min(float(bound), tighter)) + 2


def _quadratic(poly: Any, names: Sequence[str], used: Sequence[int]) -> tuple[str, ...] | None:
    """A polynomial of degree 2 as a sum of squares with positive rational weights, by completing squares."""
    if any(sum(monomial) > 2 for monomial in poly.itermonoms()):
        return None
    size = len(used) + 1
    matrix = [[Fraction(0)] * size for _ in range(size)]
    for monomial, value in poly.iterterms():
        places = [at + 1 for at, place in enumerate(used) for _ in range(monomial[place])]
        one, two = [0] * (2 - len(places)) + places
        share = Fraction(int(value.numerator), int(value.denominator)) / (1 if one == two else 2)
        matrix[one][two] = matrix[two][one] = share
    squares = _squares(matrix)
    if squares is None:
        return None
    labels = ["1", *(names[place] for place in used)]
    return ("= " + (" + ".join(_square(weight, row, labels) for weight, row in squares) or "0"),)


def _squares(matrix: list[list[Fraction]]) -> list[tuple[Fraction, list[Fraction]]] | None:
    """Weights d > 0 and rows r with matrix = Σ d·rᵀr (the LDL decomposition); None if the matrix is not semidefinite."""
    rest, found = [row[:] for row in matrix], []
    for pivot in reversed(range(len(matrix))):
        weight = rest[pivot][pivot]
        if weight < 0 or (weight == 0 and any(rest[pivot])):
            return None
        if weight == 0:
            continue
        row = [value / weight for value in rest[pivot]]
        found.append((weight, row))
        for one in range(len(matrix)):
            for two in range(len(matrix)):
                rest[one][two] -= weight * row[one] * row[two]
    return found if not any(any(row) for row in rest) else None


def _square(weight: Fraction, row: list[Fraction], labels: Sequence[str]) -> str:
    common = lcm(*(value.denominator for value in row))
    terms = [(value * common, label) for value, label in zip(row, labels, strict=True) if value]
    inner = ""
    for value, label in sorted(terms, key=lambda one: one[1] == "1"):
        size = "" if abs(value) == 1 and label != "1" else str(abs(value))
        text = label if label != "1" else ""
        inner += f" {'-' if value < 0 else '+'} " + (f"{size}*{text}" if size and text else size or text)
    inner = inner[3:] if inner.startswith(" + ") else f"-{inner[3:]}"
    factor = weight / common**2
    return f"{factor}*({inner})^2" if factor != 1 else f"({inner})^2"
