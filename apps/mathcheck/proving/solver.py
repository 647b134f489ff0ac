"""Asks the solver Z3 whether a polynomial relation can fail under polynomial conditions. Without Z3 it proves nothing.

The limit is in Z3's own unit of work (`rlimit`), so that the answer does not depend on the machine. Some questions of high
degree exceed it by minutes, so that they are not asked at all. Z3's proof is not checked, so its version matters.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from apps.mathcheck.testing.alarm import TookTooLong
from apps.mathcheck.testing.work import spend

try:
    import z3
except ImportError:
    z3 = None
#: Earlier versions say of some questions with a root and a touching point that they have no solution, such as
#: s + c ≥ r with s² + c² = 1, r² = 2, r > 0 and s, c in [-1, 1].
BELIEVED = (4, 15, 8)
if z3 is not None and z3.get_version() < BELIEVED:
    z3 = None

#: Z3's units for one question; up to 0.8 s. Operations of ours that they count as.
PER_QUESTION, COUNTED = 700_000, 30_000
MOST_TERMS, MOST_NAMES, MOST_DEGREES = 80, 7, 12
#: Highest degree of a polynomial by the number of names; more names are limited like three.
HIGHEST_DEGREE = {0: 12, 1: 12, 2: 8, 3: 6}
#: The last guard on one question, in milliseconds.
GUARD_MS = 10_000
METHOD = "Z3"
_LOGICS = {frozenset([False]): "QF_NRA", frozenset([True]): "QF_NIA"}


def is_installed() -> bool:
    """Whether Z3 can be asked."""
    return z3 is not None


def cannot_fail(
    wanted: tuple[Any, str], conditions: Sequence[tuple[Any, str]], names: Sequence[str], whole: Mapping[str, bool]
) -> bool:
    """Whether `polynomial relation 0` holds wherever all conditions, given in the same way, hold.

    Names that are not `whole` are real numbers. Raises `TookTooLong` at the last guard.
    """
    polys = [wanted[0], *(poly for poly, _ in conditions)]
    monomials = [monomial for poly in polys for monomial in poly.itermonoms()]
    degrees = {name: most for place, name in enumerate(names) if (most := max((one[place] for one in monomials), default=0))}
    used, highest = list(degrees), HIGHEST_DEGREE[min(len(degrees), 3)]
    if z3 is None or len(used) > MOST_NAMES or any(len(poly) > MOST_TERMS or _degree(poly) > highest for poly in polys):
        return False
    if len(used) > 1 and sum(degrees.values()) > MOST_DEGREES:
        return False
    spend(COUNTED)
    context = z3.Context()
    solver = z3.SolverFor(_LOGICS.get(frozenset(whole[name] for name in used), "ALL"), ctx=context)
    solver.set("rlimit", PER_QUESTION)
    solver.set("timeout", GUARD_MS)
    variables = [z3.Int(f"x{at}", context) if whole[name] else z3.Real(f"x{at}", context) for at, name in enumerate(names)]
    for poly, relation in conditions:
        solver.add(_related(poly, relation, variables, context))
    solver.add(z3.Not(_related(*wanted, variables, context)))
    answer = solver.check()
    if answer == z3.unknown and "timeout" in solver.reason_unknown():
        raise TookTooLong
    return bool(answer == z3.unsat)


def _degree(poly: Any) -> int:
    return max((sum(monomial) for monomial in poly.itermonoms()), default=0)


def _related(poly: Any, relation: str, variables: Sequence[Any], context: Any) -> Any:
    """The relation to 0, multiplied by the common denominator."""
    common = lcm(*(int(value.denominator) for value in poly.itercoeffs()))
    total = z3.IntVal(0, context)
    for monomial, value in poly.iterterms():
        factor = Fraction(int(value.numerator), int(value.denominator)) * common
        term = z3.IntVal(int(factor), context)
        for place, exponent in enumerate(monomial):
            for _ in range(exponent):
                term = term * variables[place]
        total = total + term
    relations = {
        "=": lambda: total == 0,
        r"\ne": lambda: total != 0,
        ">": lambda: total > 0,
        r"\ge": lambda: total >= 0,
        "<": lambda: total < 0,
        r"\le": lambda: total <= 0,
    }
    return relations[relation]()
