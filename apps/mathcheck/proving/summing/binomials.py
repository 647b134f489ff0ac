"""Binomial coefficients by factorials."""

from dataclasses import replace

from apps.mathcheck.proving.facts import Facts
from apps.mathcheck.proving.relations import inequality
from apps.mathcheck.proving.whole import is_clear
from apps.mathcheck.scope import Condition
from apps.mathcheck.testing.evaluating import constant
from apps.mathcheck.tex.tree import BINDERS, Node, free_names, has, number, rebuilt, walk


def counting(facts: Facts) -> Facts:
    """The same with undeclared names in factorials and coefficients, and at the ends of sums, as whole numbers."""
    parts = [part for side in (facts.claim.left, facts.claim.right) for part in walk(side)]
    names = frozenset[str]()
    for part in parts:
        if part.op == "fn" and part.value in ("binom", "factorial"):
            names |= free_names(part)
        elif part.op in BINDERS:
            names |= free_names(part.args[0]) | free_names(part.args[1])
    return facts.taking_whole(names)


def with_factorials(facts: Facts) -> Facts:
    """The claim with `binom(n, k)` as `n!/(k! (n-k)!)` wherever k is not a number and `0 ≤ k ≤ n` is proved."""
    relations = (facts.claim, *facts.conditions)
    chosen = [part for one in relations for side in (one.left, one.right) for part in walk(side) if part.value == "binom"]
    if not chosen:
        return facts
    facts = facts.taking_whole(frozenset().union(*map(free_names, chosen)))

    def change(part: Node) -> Node | None:
        if part.op != "fn" or part.value != "binom" or constant(part.args[1]) is not None or not _is_choice(part, facts):
            return None
        return by_definition(part)

    def changed(one: Condition) -> Condition:
        sides = [side if has(side, *BINDERS) else rebuilt(side, change) for side in (one.left, one.right)]
        return Condition(one.relation, sides[0], sides[1], one.modulus)

    return replace(facts, claim=changed(facts.claim), conditions=tuple(map(changed, facts.conditions)))


def by_definition(part: Node) -> Node:
    """The coefficient `binom(n, k)` as `n!/(k! (n-k)!)`, which it is for `0 ≤ k ≤ n`."""
    top, bottom = part.args
    factorials = [Node("fn", (one,), "factorial") for one in (top, bottom, Node("add", (top, Node("neg", (bottom,)))))]
    return Node("div", (factorials[0], Node("mul", (factorials[1], factorials[2]))))


def _is_choice(part: Node, facts: Facts) -> bool:
    top, bottom = part.args
    if not (is_clear(top) and is_clear(bottom)) or not all(map(facts.is_whole, free_names(part))):
        return False
    needed = (Condition(r"\ge", bottom, number(0)), Condition(r"\ge", top, bottom))
    return all((found := inequality(replace(facts, claim=one))) is not None and not found.where for one in needed)
