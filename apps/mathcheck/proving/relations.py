"""Equations and inequalities: expansion, elimination of stated equations, signs."""

from typing import Any

from sympy import QQ, groebner
from sympy.polys.polyerrors import PolynomialError

from apps.mathcheck.proving import solver
from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.facts import Facts
from apps.mathcheck.proving.normal.polynomials import System, shown_given, system_of
from apps.mathcheck.proving.signs import sign_steps
from apps.mathcheck.testing.work import METER, SYMPY, spend

MOST_TERMS, MOST_EQUATIONS, HIGHEST_DEGREE = 60, 4, 8
#: SymPy factors a power of high degree for minutes.
HIGHEST_FACTORED = 60
_ABOVE = {">": True, r"\ge": False}
_BELOW = {"<": True, r"\le": False}


def related_by(facts: Facts) -> Certificate | None:
    """An equation or an inequality."""
    return equation(facts) if facts.claim.relation == "=" else inequality(facts)


def where_of(facts: Facts) -> str | None:
    """Where both sides have a value, in words; None if a declared name can take it from them. Raises `NoNormalForm`."""
    return _where(system_of(facts))


def equation(facts: Facts) -> Certificate | None:
    """An equation by normal forms, if needed modulo the stated equations."""
    system = system_of(facts)
    top = system.claim.top
    steps = shown_given(system.given)
    method = "expansion"
    if top != 0:
        stated, method = _follows(top, system), "expansion under stated equations"
        if stated is None:
            stated, method = _without_solution(top, "=", system), solver.METHOD
        if stated is None:
            return None
        steps = (*steps, *stated)
    where = _where(system)
    if where is None:
        return None
    lines = ("both sides have the same normal form: the difference, expanded over the rational numbers, is 0",)
    return Certificate(method, (*steps, *(lines if top == 0 else ())), _assumed(facts, system, facts.claim.names), where)


def _follows(top: Any, system: System) -> tuple[str, ...] | None:
    """Whether a polynomial is in the ideal of the stated equations."""
    equations = [poly for poly, relation in system.conditions if relation == "="]
    if not equations or len(equations) > MOST_EQUATIONS or len(top) > MOST_TERMS:
        return None
    if any(len(poly) > 20 or max(map(sum, poly.itermonoms())) > HIGHEST_DEGREE for poly in (*equations, top)):
        return None
    spend(20 * SYMPY)
    try:
        symbols = top.ring.symbols
        basis = groebner([poly.as_expr() for poly in equations], *symbols, order="grevlex", domain=QQ)
        if not basis.contains(top.as_expr()):
            return None
    except (PolynomialError, ValueError, ArithmeticError):
        return None
    shown = "; ".join(f"{poly.as_expr()} = 0".replace("**", "^") for poly in equations)
    return (f"the difference is a combination of {shown} (reduced to 0 by a Gröbner basis)",)


def inequality(facts: Facts) -> Certificate | None:
    """`<`, `>`, `≤`, `≥` and `≠` by the sign of the difference."""
    system, relation = system_of(facts), facts.claim.relation
    top, bottom = system.claim.top, system.claim.bottom
    if relation in _BELOW:
        top = -top
    strict = {**_ABOVE, **_BELOW}.get(relation)
    if strict is None:
        return _unequal(facts, system)
    where, steps = _where(system), shown_given(system.given)
    if where is None:
        return None
    if bottom != 1:
        positive, above = _sign(bottom, system, True), True
        if positive is None:
            positive, above = _sign(-bottom, system, True), False
        if positive is None:
            return None
        steps = (*steps, f"the common denominator is {'positive' if above else 'negative'}:", *positive[1])
        top = top if above else -top
    found = _sign(top, system, strict)
    if found is None:
        return None
    return Certificate(found[0], (*steps, *found[1]), _assumed(facts, system, _reached(facts)), where)


def _unequal(facts: Facts, system: System) -> Certificate | None:
    where = _where(system)
    if facts.claim.relation != r"\ne" or where is None:
        return None
    for poly in (system.claim.top, -system.claim.top):
        if (found := _sign(poly, system, True)) is not None:
            return Certificate(
                found[0], (*shown_given(system.given), *found[1]), _assumed(facts, system, _reached(facts)), where
            )
    return None


def plain_sign(poly: Any, system: System, strict: bool) -> tuple[str, tuple[str, ...]] | None:
    """The method and lines of a proof by the ranges of the names that a polynomial is > 0 or ≥ 0."""
    direct = sign_steps(poly, system.names, system.bounds, strict)
    if direct is not None:
        return "signs of a polynomial", direct
    split = _by_factors(poly, system, strict)
    return ("signs of factors", split) if split is not None else None


def _sign(poly: Any, system: System, strict: bool) -> tuple[str, tuple[str, ...]] | None:
    """The method and lines of a proof that a polynomial is > 0 or ≥ 0 under the conditions."""
    found = plain_sign(poly, system, strict)
    if found is not None:
        return found
    unsolved = _without_solution(poly, ">" if strict else r"\ge", system)
    return (solver.METHOD, unsolved) if unsolved is not None else None


def _without_solution(poly: Any, relation: str, system: System) -> tuple[str, ...] | None:
    """Z3's answer on a relation to 0 under all conditions."""
    defined = [(poly, "=") for poly in system.algebra.definitions()]
    conditions = list(dict.fromkeys([*system.conditions, *_bounds(system), *defined]))
    if not solver.cannot_fail((poly, relation), conditions, system.names, system.whole):
        return None
    used = "; ".join(_shown(*one) for one in conditions)
    return (f"Z3 finds that the negation has no solution: {_shown(poly, relation)}" + (f" under {used}" if used else ""),)


def _shown(poly: Any, relation: str) -> str:
    signs = {r"\le": "≤", r"\ge": "≥", r"\ne": "≠"}
    return f"{poly.as_expr()} {signs.get(relation, relation)} 0".replace("**", "^")


def _by_factors(poly: Any, system: System, strict: bool) -> tuple[str, ...] | None:
    """The sign of a product by the signs of its factors."""
    if len(poly) > MOST_TERMS or poly == 0 or max(map(sum, poly.itermonoms())) > HIGHEST_FACTORED:
        return None
    METER.spent += SYMPY // 4
    factor, factors = poly.factor_list()
    if len(factors) < 2 and all(times == 1 for _, times in factors):
        return None
    sign, lines = (1 if factor > 0 else -1), list[str]()
    for one, times in factors:
        if times % 2 == 0 and not strict:
            continue
        for candidate, meaning in ((one, 1), (-one, -1)):
            found = sign_steps(candidate, system.names, system.bounds, strict)
            if found is not None:
                sign *= meaning if times % 2 else 1
                lines += found
                break
        else:
            return None
    return tuple(lines) if sign > 0 else None


def _bounds(system: System) -> list[tuple[Any, str]]:
    """The ranges of all generators as relations to 0."""
    found = []
    for key, generator in zip(system.names, system.claim.top.ring.gens, strict=False):
        bound = system.bounds[key]
        if bound.low is not None:
            found.append((generator - QQ(bound.low.numerator, bound.low.denominator), ">" if bound.low_strict else r"\ge"))
        if bound.high is not None:
            found.append((generator - QQ(bound.high.numerator, bound.high.denominator), "<" if bound.high_strict else r"\le"))
    return found


def _where(system: System) -> str | None:
    """Where both sides have a value, in words; None if they have none at a point of the declared ranges."""
    factors: dict[Any, None] = {}
    for divisor in system.algebra.divisors:
        METER.spent += SYMPY // 4
        factors |= dict.fromkeys(factor for factor, _ in divisor.factor_list()[1])
    open_ones = [factor for factor in factors if not _is_nonzero(factor, system)]
    negative = [poly for poly in dict.fromkeys(system.algebra.not_negative) if not _is_never_negative(poly, system)]
    if any(_is_declared(name, system) for poly in (*open_ones, *negative) for name in _names_in(poly, system)):
        return None
    limits = [*(_shown(factor, r"\ne") for factor in open_ones), *(_shown(poly, r"\ge") for poly in negative)]
    return ", ".join(limits)


def _is_never_negative(poly: Any, system: System) -> bool:
    """Whether a polynomial is never negative. What defines a root may not be used: it has a value only then."""
    if sign_steps(poly, system.names, system.bounds, False) or _by_factors(poly, system, False):
        return True
    stated = [*system.conditions, *_bounds(system)]
    return solver.cannot_fail((poly, r"\ge"), stated, system.names, system.whole)


def _is_nonzero(factor: Any, system: System) -> bool:
    if any(relation == r"\ne" and (poly - factor == 0 or poly + factor == 0) for poly, relation in system.conditions):
        return True
    domains, names = system.algebra.domains, _names_in(factor, system)
    if len(factor) == 1 and all(name in domains and domains[name].sign == "nonzero" for name in names):
        return True
    if any(sign_steps(poly, system.names, system.bounds, True) for poly in (factor, -factor)):
        return True
    declared = any(_is_declared(name, system) for name in names)
    return declared and _without_solution(factor, r"\ne", system) is not None


def _is_declared(name: str, system: System) -> bool:
    domain = system.algebra.domains.get(name)
    return domain is None or domain.declared


def _names_in(factor: Any, system: System) -> set[str]:
    return {system.names[at] for monomial in factor.itermonoms() for at, exponent in enumerate(monomial) if exponent}


def _assumed(facts: Facts, system: System, names: frozenset[str]) -> tuple[str, ...]:
    """The assumptions in words, also that undeclared names in exponents are whole numbers."""
    taken = system.algebra.taken_whole
    shown = (one for one in facts.shown(names) if one not in {f"{name} real" for name in taken})
    return (*shown, *(f"{name} whole" for name in sorted(taken)))


def _reached(facts: Facts) -> frozenset[str]:
    found = facts.claim.names
    for condition in facts.conditions:
        found |= condition.names
    return found
