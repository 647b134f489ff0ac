"""Random claims against SymPy's arithmetic: is a claim ever proved that fails at a point, or refuted although it is true?

The generator knows nothing of the provers. Some claims are true by construction, in a form that needs work. Others are the same
with a small change, or relations of random expressions. Every proved claim is evaluated at random points of its domain.
"""

import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Integer, Rational, Symbol, latex

from apps.mathcheck.checking import check_text, warm
from apps.mathcheck.findings import PROVED, REFUTED
from benchmarks.figures import Figure
from benchmarks.mathcheck import families

CLAIMS, QUICK_CLAIMS = 100_000, 400
POINTS = 30
REAL, POSITIVE, WHOLE, NATURAL = "real numbers", "positive real numbers", "integers", "positive integers"
RELATIONS = {"=": sympy.Eq, r"\le": sympy.Le, r"\ge": sympy.Ge, "<": sympy.Lt, ">": sympy.Gt}
Source = random.Random


@dataclass(frozen=True)
class RandomClaim:
    """A claim as a text. `holds` evaluates it at a point, None where it has no value; `is_true` is None if not known."""

    text: str
    names: tuple[str, ...]
    kind: str
    holds: Callable[[dict[Symbol, Any]], bool | None]
    is_true: bool | None


def figures(quick: bool = False) -> list[Figure]:
    """Counts over random claims."""
    count, wrong = played(QUICK_CLAIMS if quick else CLAIMS)
    total = sum(count[one] for one in ("proved", "refuted", "other"))
    direct, false = families.played(count_of := (QUICK_CLAIMS // 4 if quick else CLAIMS // 10))
    for text in (*wrong, *false):
        sys.stderr.write(f"{text}\n")
    return [
        Figure(
            f"{count_of:,} sums and inequalities without tests: proved although false", direct["proved although false"], "", 0
        ),
        Figure("sums and inequalities proved", direct["proved"] / count_of),
        Figure(f"{total:,} random claims: proved although false", count["proved although false"], "", 0),
        Figure(f"{total:,} random claims: refuted although true", count["refuted although true"], "", 0),
        Figure("random claims proved", count["proved"] / total),
        Figure("random claims refuted", count["refuted"] / total),
    ]


def played(claims: int, seed: int = 2026) -> tuple[Counter[str], list[str]]:
    """Check random claims. Returns the outcomes, and the claims with a wrong one."""
    warm()
    source, count, wrong = random.Random(seed), Counter[str](), list[str]()
    for _ in range(claims):
        claim = random_claim(source)
        outcomes = {finding.outcome for finding in check_text(claim.text)}
        if REFUTED in outcomes:
            count["refuted"] += 1
            if claim.is_true:
                count["refuted although true"] += 1
                wrong.append(claim.text)
        elif outcomes == {PROVED}:
            count["proved"] += 1
            if any(claim.holds(_point(claim, source)) is False for _ in range(POINTS)):
                count["proved although false"] += 1
                wrong.append(claim.text)
        else:
            count["other"] += 1
    return count, wrong


def random_claim(source: Source) -> RandomClaim:
    """A claim of a random kind."""
    return source.choice([_expansion, _relation, _squares, _divisibility, _powers, _summed, _quotient, _rooted])(source)


def _point(claim: RandomClaim, source: Source) -> dict[Symbol, Any]:
    return {Symbol(name): _value(claim.kind, source) for name in claim.names}


def _value(kind: str, source: Source) -> Any:
    if kind in (WHOLE, NATURAL):
        return Integer(source.randint(1 if kind == NATURAL else -25, 25))
    low = 1 if kind == POSITIVE else -40
    return Rational(source.randint(low, 40), source.choice([1, 1, 2, 3, 7, 20]))


def _declared(names: tuple[str, ...], kind: str) -> str:
    return f"Let ${'$, $'.join(names)}$ be {kind}. "


def _made(
    source: Source,
    left: Any,
    relation: str,
    right: Any,
    names: tuple[str, ...],
    kind: str,
    is_true: bool | None,
    value: Callable[[dict[Symbol, Any]], Any] | None = None,
) -> RandomClaim:
    def holds(point: dict[Symbol, Any]) -> bool | None:
        one, two = value(point) if value is not None else left.subs(point), right.subs(point)
        if any(not side.is_real or side.has(sympy.zoo, sympy.nan, sympy.oo) for side in (one, two)):
            return None
        return bool(sympy.simplify(RELATIONS[relation](one, two)))

    opening = source.choice(["Then ", "We have ", "Hence ", "It follows that "])
    return RandomClaim(
        f"{_declared(names, kind)}{opening}${latex(left)} {relation} {latex(right)}$.", names, kind, holds, is_true
    )


def _names(source: Source, most: int = 3) -> tuple[str, ...]:
    return tuple(sorted(source.sample("abcxyz", source.randint(1, most))))


def _polynomial(source: Source, names: tuple[str, ...], degree: int = 2) -> Any:
    def term() -> Any:
        factors = (Symbol(source.choice(names)) for _ in range(source.randint(0, degree)))
        return source.choice([-3, -2, -1, 1, 1, 2, 3, 5]) * sympy.prod(factors)

    return sympy.Add(*(term() for _ in range(source.randint(1, 3))))


def _changed(source: Source, expression: Any, names: tuple[str, ...]) -> Any:
    """The expression, or with equal chance one that differs a little."""
    change = source.choice([-1, 1]) * Symbol(source.choice(names)) ** source.randint(0, 2)
    return expression + change if source.random() < 0.5 else expression


def _expansion(source: Source) -> RandomClaim:
    names = _names(source)
    one, two = _polynomial(source, names), _polynomial(source, names)
    opened = sympy.expand(one * two)
    right, kind = _changed(source, opened, names), source.choice([REAL, POSITIVE, WHOLE])
    shown = sympy.Mul(one, two, evaluate=False)
    is_true = True if right == opened else None
    return _made(source, shown, "=", right, names, kind, is_true, lambda point: one.subs(point) * two.subs(point))


def _relation(source: Source) -> RandomClaim:
    names, kind = _names(source, 2), source.choice([REAL, POSITIVE, WHOLE, NATURAL])
    left, right = _polynomial(source, names, 3), _polynomial(source, names)
    return _made(source, left, source.choice(list(RELATIONS)), right, names, kind, None)


def _squares(source: Source) -> RandomClaim:
    """A sum of squares, expanded, against 0 or a number near 0."""
    names, kind = _names(source), source.choice([REAL, POSITIVE, WHOLE])
    total = sympy.expand(sum(_polynomial(source, names, 1) ** 2 for _ in range(source.randint(1, 3))))
    least = source.choice([0, 0, 0, 1, Rational(-1, 2)])
    relation = source.choice([r"\ge", ">"])
    is_true = True if least <= 0 and relation == r"\ge" else None
    return _made(source, total, relation, sympy.sympify(least), names, kind, is_true)


def _quotient(source: Source) -> RandomClaim:
    names, kind = _names(source, 2), source.choice([POSITIVE, NATURAL, REAL])
    one, two = _polynomial(source, names, 1), _polynomial(source, names, 1)
    below = 1 + sum(Symbol(name) ** 2 for name in names)
    left = sympy.Add(one / below, two, evaluate=False)
    right, relation = _changed(source, sympy.together(one / below + two), names), source.choice(["=", "=", r"\le"])
    value = lambda point: one.subs(point) / below.subs(point) + two.subs(point)  # noqa: E731
    return _made(source, left, relation, right, names, kind, None, value)


def _rooted(source: Source) -> RandomClaim:
    names, kind = _names(source, 2), source.choice([REAL, POSITIVE])
    inner = _polynomial(source, names, 1)
    shown = source.choice([sympy.sqrt(inner**2), sympy.Abs(inner), sympy.sqrt(Symbol(names[0]) ** 2 + 1)])
    other = source.choice([inner, sympy.Abs(Symbol(names[0])), -inner, Integer(0), inner / 2])
    return _made(source, shown, source.choice([r"\ge", "=", ">", r"\le"]), other, names, kind, None)


def _summed(source: Source) -> RandomClaim:
    k, n = Symbol("k"), Symbol("n")
    body = source.choice([k, k**2, 2 * k - 1, k**3, k * (k + 1), 2**k, 1 / (k * (k + 1)), 3 * k + source.randint(-2, 2)])
    start = source.choice([0, 1, 1, 1, 2]) if body.subs(k, 0).is_finite else 1
    closed = sympy.factor(sympy.summation(body, (k, start, n)))
    right = _changed(source, closed, ("n",))
    text = rf"\sum_{{k={start}}}^{{n}} \left({latex(body)}\right)"
    relation = source.choice(["=", "=", r"\le", ">"])

    def holds(point: dict[Symbol, Any]) -> bool | None:
        left = sum(body.subs(k, step) for step in range(start, int(point[n]) + 1))
        return bool(RELATIONS[relation](left, right.subs(point))) if int(point[n]) >= start - 1 else None

    return RandomClaim(f"{_declared(('n',), NATURAL)}Then ${text} {relation} {latex(right)}$.", ("n",), NATURAL, holds, None)


def _divisibility(source: Source) -> RandomClaim:
    names = tuple(sorted(source.sample("mnk", source.randint(1, 2))))
    poly = sympy.expand(_polynomial(source, names, 3) * _polynomial(source, names, 2))
    return _divides(source.choice([2, 3, 4, 5, 6, 8, 9, 12, 24]), poly, names, source.choice([WHOLE, NATURAL]), source)


def _powers(source: Source) -> RandomClaim:
    n = Symbol("n")
    power = source.randint(2, 12) ** (source.randint(1, 3) * n) + source.choice([-1, 1]) * source.randint(1, 6) ** n
    rest = source.randint(-3, 3) * n + source.randint(-2, 2)
    return _divides(source.choice([2, 3, 4, 5, 7, 9, 10]), power + rest, ("n",), NATURAL, source)


def _divides(modulus: int, poly: Any, names: tuple[str, ...], kind: str, source: Source) -> RandomClaim:
    remainder = source.choice([0, 0, source.randint(0, modulus - 1)])
    shown = rf"{modulus}\mid {latex(poly)}" if not remainder else rf"{latex(poly)}\equiv {remainder}\pmod{{{modulus}}}"

    def holds(point: dict[Symbol, Any]) -> bool | None:
        return bool((poly.subs(point) - remainder) % modulus == 0)

    return RandomClaim(f"{_declared(names, kind)}Then ${shown}$.", names, kind, holds, None)
