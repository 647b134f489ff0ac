"""Random sums and inequalities, given to their provers directly, against independent values: is a false one ever proved?

`check_text` refutes most false claims before a prover sees them. Here every claim reaches the provers. Closed forms are from
SymPy or from a list, then changed a little; inequalities compare random functions on random ranges, many with equality at an
end. Values are sums term by term, and mpmath's numbers of 40 digits.
"""

import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import comb, factorial

import mpmath

from apps.mathcheck.claims import resolved
from apps.mathcheck.proving.prove import prove
from apps.mathcheck.scope import Condition, Domain, Scope
from apps.mathcheck.testing.work import PER_CLAIM, OutOfWork, allowance
from apps.mathcheck.tex.lexing import tokens
from apps.mathcheck.tex.parsing import parsed
from apps.mathcheck.tex.tree import Node, name

DIGITS, PLACES, TERMS = 40, 60, 12
Source = random.Random
Made = tuple[str, Condition, Scope, Callable[[], bool]]
"""A claim in words, the claim, its scope, and whether no value contradicts it."""

Exact = Callable[[int], Fraction]
#: Terms F(n, k), sums from a first k to n, and their values.
SUMS: tuple[tuple[str, Callable[[int, int], Fraction], int, str, Exact], ...] = (
    ("k", lambda n, k: Fraction(k), 1, r"\frac{n(n+1)}{2}", lambda n: Fraction(n * (n + 1), 2)),
    ("k 2^k", lambda n, k: Fraction(k * 2**k), 0, "(n-1)2^{n+1}+2", lambda n: Fraction((n - 1) * 2 ** (n + 1) + 2)),
    (r"k\cdot k!", lambda n, k: Fraction(k * factorial(k)), 1, "(n+1)!-1", lambda n: Fraction(factorial(n + 1) - 1)),
    (r"\frac{1}{k(k+1)}", lambda n, k: Fraction(1, k * (k + 1)), 1, r"\frac{n}{n+1}", lambda n: Fraction(n, n + 1)),
    (r"\frac{k}{(k+1)!}", lambda n, k: Fraction(k, factorial(k + 1)), 1, r"1-\frac1{(n+1)!}",
     lambda n: 1 - Fraction(1, factorial(n + 1))),
    (r"\frac{k}{2^k}", lambda n, k: Fraction(k, 2**k), 1, r"2-\frac{n+2}{2^n}", lambda n: 2 - Fraction(n + 2, 2**n)),
    (r"\binom{n}{k}", lambda n, k: Fraction(comb(n, k)), 0, "2^n", lambda n: Fraction(2**n)),
    (r"k\binom{n}{k}", lambda n, k: Fraction(k * comb(n, k)), 0, r"\frac{n2^n}{2}", lambda n: Fraction(n * 2**n, 2)),
    (r"(-1)^k\binom{n}{k}", lambda n, k: Fraction((-1) ** k * comb(n, k)), 0, "0", lambda n: Fraction(int(n == 0))),
    (r"\binom{n}{k}^2", lambda n, k: Fraction(comb(n, k) ** 2), 0, r"\binom{2n}{n}", lambda n: Fraction(comb(2 * n, n))),
    (r"\binom{n+k}{k}", lambda n, k: Fraction(comb(n + k, k)), 0, r"\binom{2n+1}{n}", lambda n: Fraction(comb(2 * n + 1, n))),
    (r"\frac{1}{k+1}\binom{n}{k}", lambda n, k: Fraction(comb(n, k), k + 1), 0, r"\frac{2^{n+1}-1}{n+1}",
     lambda n: Fraction(2 ** (n + 1) - 1, n + 1)),
)  # fmt: skip
_VALUES: dict[str, Callable[[int], Fraction]] = {
    "": lambda _: Fraction(0),
    "+1": lambda _: Fraction(1),
    "-1": lambda _: Fraction(-1),
    "+n": lambda n: Fraction(n),
    r"+\frac{1}{n+1}": lambda n: Fraction(1, n + 1),
    "-(n-1)(n-2)": lambda n: Fraction(-(n - 1) * (n - 2)),
    "+n(n-1)(n-2)(n-3)": lambda n: Fraction(n * (n - 1) * (n - 2) * (n - 3)),
}
_HOLDS: dict[str, Callable[[object, object], bool]] = {
    "=": lambda one, two: one == two,
    r"\le": lambda one, two: one <= two,  # type: ignore[operator]
    r"\ge": lambda one, two: one >= two,  # type: ignore[operator]
    "<": lambda one, two: one < two,  # type: ignore[operator]
    ">": lambda one, two: one > two,  # type: ignore[operator]
}
#: Functions of x as TeX and by mpmath. Powers of x are added to them.
FUNCTIONS: tuple[tuple[str, Callable[[mpmath.mpf], mpmath.mpf]], ...] = (
    (r"\exp(x)", mpmath.exp),
    (r"\exp(-x)", lambda x: mpmath.exp(-x)),
    (r"\ln(x)", mpmath.log),
    (r"\ln(1+x)", lambda x: mpmath.log(1 + x)),
    (r"\sin(x)", mpmath.sin),
    (r"\cos(x)", mpmath.cos),
    (r"\tan(x)", mpmath.tan),
    (r"\sqrt{x}", mpmath.sqrt),
    (r"\sqrt{1+x}", lambda x: mpmath.sqrt(1 + x)),
    (r"\arctan(x)", mpmath.atan),
    (r"x\ln(x)", lambda x: x * mpmath.log(x)),
    (r"x\exp(x)", lambda x: x * mpmath.exp(x)),
    (r"\frac{1}{x}", lambda x: 1 / x),
    (r"\frac{x}{1+x}", lambda x: x / (1 + x)),
)
_ENDS: tuple[tuple[str, float], ...] = (
    ("-2", -2), ("-1", -1), (r"\frac{-1}{2}", -0.5), ("0", 0), (r"\frac{1}{2}", 0.5), ("1", 1),
    (r"\frac{\pi}{2}", float(mpmath.pi) / 2),
    ("2", 2), (r"\pi", float(mpmath.pi)), ("4", 4),
)  # fmt: skip


def played(claims: int, seed: int = 2026) -> tuple[Counter[str], list[str]]:
    """Give random claims to the provers. Returns the outcomes, and the false ones that were proved."""
    source, count, wrong = random.Random(seed), Counter[str](), list[str]()
    for _ in range(claims):
        text, claim, scope, holds = source.choice((_sum, _inequality, _inequality))(source)
        try:
            with allowance(PER_CLAIM):
                proof = prove([claim], scope)
        except OutOfWork:
            proof = None
        count["proved" if proof is not None else "other"] += 1
        if proof is not None and not holds():
            count["proved although false"] += 1
            wrong.append(f"{text} ({proof.method})")
    return count, wrong


def _node(tex: str) -> Node:
    return resolved(parsed(tokens(tex)), Scope())


def _sum(source: Source) -> Made:
    body, term, low, closed, value = source.choice(SUMS)
    shift, change = source.choice((0, 0, 0, 1)), source.choice(list(_VALUES))
    relation = source.choice(("=", "=", "=", r"\le", r"\ge", "<", ">"))
    sign = source.choice(("positive", "nonnegative"))
    upper = f"n+{shift}" if shift else "n"
    tex = (rf"\sum_{{k={low}}}^{{{upper}}} {body}", f"{closed}{change}")
    scope = Scope(domains={"n": Domain(kind="integer", sign=sign, declared=True)})

    def holds() -> bool:
        for n in range(1 if sign == "positive" else 0, TERMS):
            left = sum((term(n, k) for k in range(low, n + shift + 1)), Fraction(0))
            if not _HOLDS[relation](left, value(n) + _VALUES[change](n)):
                return False
        return True

    return f"{tex[0]} {relation} {tex[1]}, n {sign}", Condition(relation, _node(tex[0]), _node(tex[1])), scope, holds


def _inequality(source: Source) -> Made:
    shown, function = source.choice(FUNCTIONS)
    low, high = sorted(source.sample(range(len(_ENDS)), 2))
    ends = [_ENDS[low], _ENDS[high] if source.random() < 0.7 else None]
    strict = [source.random() < 0.5 for _ in ends]
    # The right side touches the function at one of the ends, or nearly so.
    place = source.choice([mpmath.mpf(0), mpmath.mpf(1), mpmath.mpf(ends[0][1] if ends[0] else 0)])
    factors = [_near(function, place, order, source) for order in range(source.randint(1, 3))]
    other = "+".join(_term(one, _rational(place), at) for at, one in enumerate(factors))
    relation = source.choice(("<", ">", r"\le", r"\ge"))
    claim = Condition(relation, _node(shown), _node(other))
    conditions = [Condition(">" if strict[0] else r"\ge", name("x"), _node(ends[0][0]))] if ends[0] else []
    if ends[1] is not None:
        conditions.append(Condition("<" if strict[1] else r"\le", name("x"), _node(ends[1][0])))
    scope = Scope(domains={"x": Domain(declared=True)}, conditions=conditions)

    def holds() -> bool:
        first = mpmath.mpf(ends[0][1]) if ends[0] else mpmath.mpf(0)
        last = mpmath.mpf(ends[1][1]) if ends[1] else first + 12
        with mpmath.workdps(DIGITS):
            return all(_holds_at(first + (last - first) * at / PLACES) for at in range(1, PLACES)) and all(
                _holds_at(end) for end, is_open in ((first, strict[0]), (last, strict[1])) if not is_open and end == int(end)
            )

    def _holds_at(x: mpmath.mpf) -> bool:
        try:
            left = mpmath.mpf(function(x))
        except (ZeroDivisionError, ValueError, TypeError):
            return False
        right = sum(
            mpmath.mpf(one.numerator) / one.denominator * (x - _rational(place)) ** at for at, one in enumerate(factors)
        )
        return mpmath.isfinite(left) and _HOLDS[relation](left, right)

    where = f"{'<' if strict[0] else '<='} x {'<' if strict[1] else '<='}"
    return f"{shown} {relation} {other}, {ends[0]} {where} {ends[1]}", claim, scope, holds


def _term(factor: Fraction, place: int, power: int) -> str:
    number = rf"\frac{{{factor.numerator}}}{{{factor.denominator}}}"
    return rf"{number}(x-({place}))^{{{power}}}" if power else number


def _rational(place: mpmath.mpf) -> int:
    return int(place)


def _near(function: Callable[[mpmath.mpf], mpmath.mpf], place: mpmath.mpf, order: int, source: Source) -> Fraction:
    """A number at or near the Taylor coefficient at a place."""
    try:
        value = mpmath.taylor(function, _rational(place), order)[order]
        exact = Fraction(float(mpmath.re(value))).limit_denominator(24)
    except (ZeroDivisionError, ValueError, TypeError, OverflowError):
        exact = Fraction(source.randint(-2, 2))
    return exact + source.choice((0, 0, 0, Fraction(1, 10), Fraction(-1, 10), 1))
