r"""Divisibility by an expression: `a - b \mid a^3 - b^3` by a quotient with whole coefficients."""

from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.facts import Facts
from apps.mathcheck.proving.normal.algebra import Algebra
from apps.mathcheck.tex.tree import Node

METHOD = "division of polynomials"


def divided(facts: Facts) -> Certificate | None:
    r"""`d \mid e` and `a \equiv b \pmod d`, if `e` (or `a - b`) is `d` times a polynomial with whole coefficients."""
    claim = facts.claim
    if claim.modulus is not None and claim.relation in ("=", r"\equiv"):
        divisor, multiple = claim.modulus, Node("add", (claim.left, Node("neg", (claim.right,))))
    elif claim.relation == r"\mid":
        divisor, multiple = claim.left, claim.right
    else:
        return None
    if any(domain.declared and domain.kind != "integer" for domain in facts.domains.values()):
        return None
    algebra = Algebra(facts.domains)
    one, other = algebra.over(divisor, multiple)
    if algebra.others() or one.bottom != 1 or other.bottom != 1 or one.top == 0:
        return None
    quotient, rest = other.top.div(one.top)
    if rest != 0 or any(value.denominator != 1 for value in quotient.itercoeffs()):
        return None
    shown = f"{other.top.as_expr()} = ({one.top.as_expr()})*({quotient.as_expr()})".replace("**", "^")
    return Certificate(METHOD, (shown,), tuple(f"{key} whole" for key in sorted(claim.names)))
