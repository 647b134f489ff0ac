"""A claim that only repeats a condition: the certificate says so instead of a proof."""

from apps.mathcheck.claims import ordered
from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.facts import TURNED, Facts
from apps.mathcheck.scope import Condition
from apps.mathcheck.tex.tree import Node
from apps.mathcheck.tex.written import related

METHOD = "stated before as a condition"


def stated(facts: Facts) -> Certificate | None:
    """The claim word for word as a condition, up to the order of sides, terms and factors."""
    claim = _shape(facts.claim)
    for one in facts.conditions:
        if claim in (_shape(one), _shape(_turned(one))):
            shown = related(one.left, one.relation, one.right, one.modulus)
            return Certificate(METHOD, (f"the text states it as a condition: {shown}",), facts.shown(facts.claim.names))
    return None


def _turned(one: Condition) -> Condition:
    if one.relation not in TURNED:
        return one
    return Condition(TURNED[one.relation], one.right, one.left, one.modulus)


def _shape(one: Condition) -> tuple[str, Node, Node, Node | None]:
    return one.relation, ordered(one.left), ordered(one.right), one.modulus
