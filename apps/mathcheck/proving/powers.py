r"""Induction on a whole exponent: `(1 + x)^n ≥ 1 + n*x`, and `a - b \mid a^n - b^n`."""

from dataclasses import replace
from typing import Any

from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.facts import Facts
from apps.mathcheck.proving.normal.algebra import Algebra
from apps.mathcheck.proving.relations import inequality
from apps.mathcheck.scope import Condition, Domain
from apps.mathcheck.tex.tree import Node, free_names, name, number, substituted, walk
from apps.mathcheck.tex.written import related, written

METHOD = "induction"
_TURNED = {r"\le": r"\ge", r"\ge": r"\le"}


def power_inequality(facts: Facts) -> Certificate | None:
    """`u^n ≥ R(n)` and `u^n ≤ R(n)` for a fixed u ≥ 0: the step multiplies by u."""
    claim = facts.claim
    for power, other, relation in (
        (claim.left, claim.right, claim.relation),
        (claim.right, claim.left, _TURNED.get(claim.relation, "")),
    ):
        if relation not in _TURNED or power.op != "pow" or power.args[1].op != "name":
            continue
        base, exponent = power.args
        key = str(exponent.value)
        bound = facts.bound(key)
        tied = any(key in one.names and len(one.names) > 1 for one in facts.conditions)
        if tied or key in free_names(base) or not bound.whole or bound.low is None or bound.start < 1:
            continue
        after, first = Node("add", (exponent, number(1))), bound.start
        carried = Condition(relation, Node("mul", (base, other)), substituted(other, {key: after}))
        needed = (
            Condition(r"\ge", base, number(0)),
            Condition(relation, Node("pow", (base, number(first))), substituted(other, {key: number(first)})),
            carried,
        )
        proofs = [inequality(replace(facts, claim=one)) for one in needed]
        if any(one is None or one.where for one in proofs):
            continue
        known = [one for one in proofs if one is not None]
        lines = (
            f"induction on {key}; {key} = {first}: {known[1].steps[-1]}",
            f"the step multiplies by {written(base)} ≥ 0 and needs {related(carried.left, carried.relation, carried.right)}",
            *known[2].steps,
        )
        return Certificate(METHOD, lines, facts.shown(claim.names))
    return None


def divided_powers(facts: Facts) -> Certificate | None:
    r"""`d \mid e(n)` with powers: d divides e at the first n, and `e(n+1) - q*e(n)` for q = 1 or a base."""
    claim = facts.claim
    if claim.relation != r"\mid" or claim.modulus is not None:
        return None
    divisor, multiple = claim.left, claim.right
    powers = [part for part in walk(multiple) if part.op == "pow" and free_names(part.args[1])]
    keys = {key for part in powers for key in free_names(part.args[1])}
    if len(keys) != 1 or any(one.declared and one.kind != "integer" for one in facts.domains.values()):
        return None
    (key,) = keys
    start = _start(facts, key)
    if start is None or key in free_names(divisor):
        return None
    domains = {**facts.domains, **{one: Domain(kind="integer", declared=True) for one in claim.names if one != key}}
    first = substituted(multiple, {key: number(start)})
    if _quotient(divisor, first, domains) is None:
        return None
    later = substituted(multiple, {key: Node("add", (name(key), number(1)))})
    for factor in dict.fromkeys([number(1), *(part.args[0] for part in powers)]):
        step = Node("add", (later, Node("neg", (Node("mul", (factor, multiple)),))))
        if (quotient := _quotient(divisor, step, domains)) is not None:
            lines = (
                f"induction on {key}; for {key} = {start} the quotient is a polynomial with whole coefficients",
                f"e({key}+1) - ({written(factor)})*e({key}) = ({written(divisor)})*({quotient.as_expr()})".replace("**", "^"),
            )
            whole = tuple(f"{one} whole" for one in sorted(claim.names - {key}))
            return Certificate(METHOD, lines, (f"{key} whole, at least {start}", *whole))
    return None


def _start(facts: Facts, key: str) -> int | None:
    """The first exponent: that of the declaration, at least 1, or 1 for an undeclared name."""
    domain, bound = facts.domains.get(key), facts.bound(key)
    if domain is None or not domain.declared:
        return 1
    return bound.start if bound.whole and bound.low is not None and bound.start >= 1 else None


def _quotient(divisor: Node, multiple: Node, domains: dict[str, Domain]) -> Any | None:
    """The quotient if it has whole coefficients, with powers such as `x^n` as names of whole numbers."""
    algebra = Algebra(domains)
    one, other = algebra.over(divisor, multiple)
    if one.bottom != 1 or other.bottom != 1 or one.top == 0 or any("^" not in key for key in algebra.others()):
        return None
    if any(key.startswith(("root(", "abs(")) or "(" in key[1:] for key in algebra.others()):
        return None
    quotient, rest = other.top.div(one.top)
    if rest != 0 or any(value.denominator != 1 for value in quotient.itercoeffs()):
        return None
    return quotient
