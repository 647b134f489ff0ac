"""Asks the solver Z3 whether a polynomial relation can fail under polynomial conditions. Without Z3 it proves nothing.

The limit is in Z3's own unit of work (`rlimit`), so that the answer does not depend on the machine. Z3's proof is not checked.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from apps.mathcheck.testing.work import spend

try:
    import z3
except ImportError:
    z3 = None

#: Z3's units for one question; about 0.3 s. Operations of ours that they count as.
PER_QUESTION, COUNTED = 1_500_000, 30_000
MOST_TERMS, HIGHEST_DEGREE, MOST_NAMES = 120, 12, 7
METHOD = "Z3"
_LOGICS = {frozenset([False]): "QF_NRA", frozenset([True]): "QF_NIA"}


def is_installed() -> bool:
    """Whether Z3 can be asked."""
    return z3 is not None


def cannot_fail(
    wanted: tuple[Any, str], conditions: Sequence[tuple[Any, str]], names: Sequence[str], whole: Mapping[str, bool]
) -> bool:
    """Whether `polynomial relation 0` holds wherever all conditions, given in the same way, hold.

    Names that are not `whole` are real numbers.
    """
    polys = [wanted[0], *(poly for poly, _ in conditions)]
    if z3 is None or any(len(poly) > MOST_TERMS or _degree(poly) > HIGHEST_DEGREE for poly in polys):
        return False
    used = [
        name for place, name in enumerate(names) if any(monomial[place] for poly in polys for monomial in poly.itermonoms())
    ]
    if len(used) > MOST_NAMES:
        return False
    spend(COUNTED)
    context = z3.Context()
    solver = z3.SolverFor(_LOGICS.get(frozenset(whole[name] for name in used), "ALL"), ctx=context)
    solver.set("rlimit", PER_QUESTION)
    variables = [z3.Int(f"x{at}", context) if whole[name] else z3.Real(f"x{at}", context) for at, name in enumerate(names)]
    for poly, relation in conditions:
        solver.add(_related(poly, relation, variables, context))
    solver.add(z3.Not(_related(*wanted, variables, context)))
    return bool(solver.check() == z3.unsat)


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
