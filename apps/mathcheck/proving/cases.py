"""Absolute values, maxima and minima: `|u|` is `u` or `-u`, a maximum is one of its arguments; every case is proved."""

from collections.abc import Iterator
from dataclasses import replace

from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.facts import Facts
from apps.mathcheck.proving.relations import related_by, where_of
from apps.mathcheck.scope import Condition
from apps.mathcheck.tex.tree import BINDERS, Node, has, number, rebuilt, walk
from apps.mathcheck.tex.written import related

METHOD, MOST_SPLITS = "every case of signs", 4
_SPLIT = ("abs", "max", "min")


def by_cases(facts: Facts) -> Certificate | None:
    """A claim with absolute values, maxima or minima."""
    if not calls(facts.claim, _SPLIT) or not is_plain(facts):
        return None
    where, steps = where_of(facts), list[str]()
    if where is None:
        return None
    limits = [where]
    for case in _cases(facts, MOST_SPLITS):
        found = related_by(case)
        if found is None:
            return None
        added = case.conditions[len(facts.conditions) :]
        shown = ", ".join(related(one.left, one.relation, one.right) for one in added)
        steps += [f"if {shown}:", *found.steps]
        limits.append(found.where)
    assumed = facts.shown(facts.claim.names)
    return Certificate(METHOD, tuple(steps), assumed, together(limits)) if steps else None


def _cases(facts: Facts, most: int) -> Iterator[Facts]:
    """The claim in every case of the signs that decide it; none if there are too many."""
    found = calls(facts.claim, _SPLIT)
    if not found:
        yield facts
        return
    if most == 0:
        yield replace(facts, claim=Condition("=", number(0), number(1)))
        return
    inner = found[-1]
    for value, condition in _branches(inner):
        claim = replaced(facts.claim, {inner: value})
        yield from _cases(replace(facts, claim=claim, conditions=(*facts.conditions, condition)), most - 1)


def _branches(call: Node) -> tuple[tuple[Node, Condition], tuple[Node, Condition]]:
    first, *rest = call.args
    if call.value == "abs":
        zero = number(0)
        return (first, Condition(r"\ge", first, zero)), (Node("neg", (first,)), Condition(r"\le", first, zero))
    other = rest[0] if len(rest) == 1 else Node("fn", tuple(rest), call.value)
    above, below = (r"\ge", r"\le") if call.value == "max" else (r"\le", r"\ge")
    return (first, Condition(above, first, other)), (other, Condition(below, first, other))


def calls(claim: Condition, functions: tuple[str, ...]) -> list[Node]:
    """The calls of some functions, inner ones last. None under a sum, whose bound name has no value."""
    found = [part for side in (claim.left, claim.right) for part in walk(side) if part.op == "fn" and part.value in functions]
    return list(dict.fromkeys(found))


def replaced(claim: Condition, values: dict[Node, Node]) -> Condition:
    """The claim with parts replaced."""
    left, right = (rebuilt(side, values.get) for side in (claim.left, claim.right))
    return Condition(claim.relation, left, right, claim.modulus)


def together(limits: list[str]) -> str:
    """Limits on the points, each once."""
    return ", ".join(dict.fromkeys(part for limit in limits for part in limit.split(", ") if part))


def is_plain(facts: Facts) -> bool:
    """Whether the claim has no modulus and no bound names, and no name is spelled like one that is made here."""
    made = any(key.endswith("'") or key[:1] == "N" for key in facts.domains)
    sides = (facts.claim.left, facts.claim.right)
    return facts.claim.modulus is None and not made and not any(has(side, *BINDERS) for side in sides)
