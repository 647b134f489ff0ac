"""Sums, products, powers and factorials with a whole name: induction.

- A sum or product up to n is replaced by a new name. From n to n + 1 it grows by its term, and at the first n it is computed.
- An inequality `L(n) > R(n)` follows if it holds at the first n, L(n+1)/L(n) is a quotient q > 0, and q·R(n) ≥ R(n+1).
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from apps.mathcheck.proving.cases import together
from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.exactly import holds_exactly
from apps.mathcheck.proving.facts import Facts
from apps.mathcheck.proving.relations import equation, inequality
from apps.mathcheck.proving.summing.binomials import counting, with_factorials
from apps.mathcheck.proving.summing.hypergeometric import grown_sum
from apps.mathcheck.scope import Condition, Domain
from apps.mathcheck.testing.evaluating import constant
from apps.mathcheck.tex.tree import BINDERS, Node, free_names, has, name, number, rebuilt, substituted, walk
from apps.mathcheck.tex.written import related

METHOD = "induction"
_ORDERED = ("<", ">", r"\le", r"\ge")
FURTHEST_START, LONGEST = 12, 200


def unrolled(node: Node) -> Node:
    """The tree with sums and products between numbers written out."""

    def change(part: Node) -> Node | None:
        if part.op not in BINDERS or free_names(part.args[0]) or free_names(part.args[1]):
            return None
        low, high = _whole(part.args[0]), _whole(part.args[1])
        if low is None or high is None or not low - 1 <= high <= low + LONGEST:
            return None
        bound, body = str(part.value), unrolled(part.args[2])
        terms = tuple(substituted(body, {bound: number(step)}) for step in range(low, high + 1))
        if not terms:
            return number(0 if part.op == "sum" else 1)
        return terms[0] if len(terms) == 1 else Node("add" if part.op == "sum" else "mul", terms)

    return rebuilt(node, change)


def _whole(node: Node) -> int | None:
    value = constant(node)
    return int(value) if value is not None and value.denominator == 1 else None


def by_induction(facts: Facts) -> Certificate | None:
    """A claim with sums or products up to a name, from its least value on."""
    facts = counting(facts)
    claim = facts.claim
    binders = {part for side in (claim.left, claim.right) for part in walk(side) if part.op in BINDERS}
    names = set().union(*(free_names(part.args[1]) for part in binders)) if binders else set()
    if len(names) != 1 or any(free_names(part.args[0]) for part in binders) or any(_is_nested(part) for part in binders):
        return None
    (key,) = names
    if not _is_whole(facts, key) or any(one.names & {key} and len(one.names) > 1 for one in facts.conditions):
        return None
    first = _first(facts, key, binders)
    grown = _all_grown(facts, key, binders) if first is not None else None
    if first is None or grown is None:
        return None
    least = max([first, *(one.start for one in grown.values())])
    later = 2 if any(one.why for one in grown.values()) else 0
    steps = ((start, _step(facts, key, start, grown)) for start in range(least, least + later + 1))
    start, step = next((pair for pair in steps if pair[1] is not None), (least, None))
    if step is None or start > first + FURTHEST_START:
        return None
    bases = [at_first(facts, key, value) for value in range(first, start + 1)]
    if None in bases:
        return None
    computed = [f"{key} = {first + at}: {base.steps[-1]}" for at, base in enumerate(bases) if base is not None]
    whys = [one.why for one in grown.values() if one.why]
    lines = (f"induction on {key} from {key} = {start}", *computed, *whys, f"from {key} to {key} + 1: {step.in_one_line}")
    where = together([step.where, *(one.where for one in grown.values())])
    return Certificate(METHOD, lines, (f"{key} whole, at least {first}", *step.assumptions), where)


def _is_nested(part: Node) -> bool:
    return any(inner.op in BINDERS for inner in walk(part.args[2]))


def _is_whole(facts: Facts, key: str) -> bool:
    domain = facts.domains.get(key)
    return domain is None or not domain.declared or domain.kind == "integer"


def _first(facts: Facts, key: str, binders: set[Node]) -> int | None:
    """The first value: that of the declaration, or the least for which every sum has a term."""
    bound = facts.bound(key)
    domain = facts.domains.get(key)
    if bound.low is not None:
        return bound.start
    if domain is not None and domain.declared:
        return None
    for start in range(FURTHEST_START):
        lengths = [(_whole(substituted(part.args[1], {key: number(start)})), _whole(part.args[0])) for part in binders]
        if all(high is not None and low is not None and high >= low for high, low in lengths):
            return start
    return None


def at_first(facts: Facts, key: str, first: int) -> Certificate | None:
    """The claim at one value of a name, with sums written out."""
    claim = facts.claim.replaced({key: number(first)})
    claim = Condition(claim.relation, unrolled(claim.left), unrolled(claim.right), claim.modulus)
    return _proved(replace(facts, claim=claim))


def _proved(facts: Facts) -> Certificate | None:
    return equation(facts) if facts.claim.relation == "=" else inequality(facts)


@dataclass(frozen=True, slots=True)
class _Grown:
    """A sum at n + 1 by its value at n, which is the name `symbol`, for n from `start` on. The name `n'` stays n."""

    symbol: Node
    value: Node
    start: int = 0
    why: str = ""
    where: str = ""


def _all_grown(facts: Facts, key: str, binders: set[Node]) -> dict[Node, _Grown] | None:
    found = {part: _growth(part, key, name(f"S{at}"), facts) for at, part in enumerate(sorted(binders, key=repr), 1)}
    grown = {part: one for part, one in found.items() if one is not None}
    return grown if len(grown) == len(found) else None


def _step(facts: Facts, key: str, first: int, grown: dict[Node, _Grown]) -> Certificate | None:
    """The step: the claim at n gives the claim at n + 1."""
    claim, after = facts.claim, Node("add", (name(key), number(1)))
    now = _with(claim, {part: one.symbol for part, one in grown.items()})
    later = _with(claim, {part: one.value for part, one in grown.items()}).replaced({key: after})
    later = Condition(later.relation, _restored(later.left, key), _restored(later.right, key))
    from_first = Domain(kind="integer", declared=True)
    start = Condition(r"\ge", name(key), number(first))
    symbols = frozenset(str(one.symbol.value) for one in grown.values())
    domains = {**facts.domains, key: facts.domains.get(key, from_first).merged(from_first)} | {one: Domain() for one in symbols}
    if has(later.left, *BINDERS) or has(later.right, *BINDERS):
        return None
    step = Facts(later, domains, (*facts.conditions, start, now))
    if any(one.why for one in grown.values()):
        step = with_factorials(step)
    found = _proved(step)
    if found is None:
        return None
    own = step.shown(symbols | {key})
    return replace(found, assumptions=tuple(one for one in found.assumptions if one not in (*own, f"{key} whole")))


def _growth(part: Node, key: str, symbol: Node, facts: Facts) -> _Grown | None:
    """The sum at n + 1, by one more term, or by a certificate if its terms contain n."""
    high, body, bound = part.args[1], part.args[2], str(part.value)
    if key in free_names(body):
        found = grown_sum(part, key, symbol, facts)
        return None if found is None else _Grown(symbol, _marked(found[0].value, key), found[1], found[0].why, found[0].where)
    rise = _rise(high, key)
    if rise is None or not 0 < rise <= 4:
        return None
    terms = [substituted(body, {bound: Node("add", (_marked(high, key), number(step)))}) for step in range(1, rise + 1)]
    return _Grown(symbol, Node("add" if part.op == "sum" else "mul", (symbol, *terms)))


def _marked(node: Node, key: str) -> Node:
    return substituted(node, {key: name(f"{key}'")})


def _restored(node: Node, key: str) -> Node:
    return substituted(node, {f"{key}'": name(key)})


def _rise(high: Node, key: str) -> int | None:
    values = [_whole(substituted(high, {key: number(at)})) for at in (5, 6, 7, 20)]
    if any(value is None for value in values):
        return None
    five, six, seven, last = (value or 0 for value in values)
    return six - five if seven - six == six - five and last - seven == 13 * (six - five) else None


def _with(claim: Condition, values: dict[Node, Node]) -> Condition:
    def change(part: Node) -> Node | None:
        return values.get(part)

    return Condition(claim.relation, rebuilt(claim.left, change), rebuilt(claim.right, change), claim.modulus)


def growth_inequality(facts: Facts) -> Certificate | None:
    """`2^n > n^2` and its like: the larger side grows by a quotient that carries the other side along."""
    claim = facts.claim
    if claim.relation not in _ORDERED or len(claim.names) != 1:
        return None
    (key,) = claim.names
    bound = facts.bound(key)
    if not bound.whole or bound.low is None or not (has(claim.left, "pow", "fn") or has(claim.right, "pow", "fn")):
        return None
    larger, smaller = (claim.left, claim.right) if claim.relation in (">", r"\ge") else (claim.right, claim.left)
    relation = ">" if claim.relation in ("<", ">") else r"\ge"
    first, after = bound.start, Node("add", (name(key), number(1)))
    for start in range(first, first + FURTHEST_START):
        if not holds_exactly(Condition(relation, larger, smaller), {key: Fraction(start)}):
            return None
        domains = {key: Domain(kind="integer", declared=True)}
        conditions = (Condition(r"\ge", name(key), number(start)),)
        quotient = Node("div", (substituted(larger, {key: after}), larger))
        carried = Condition(r"\ge", Node("mul", (quotient, smaller)), substituted(smaller, {key: after}))
        rising = inequality(Facts(Condition(">", quotient, number(0)), domains, conditions))
        step = inequality(Facts(carried, domains, conditions)) if rising is not None else None
        if step is None:
            continue
        lines = (
            f"induction on {key}; for {key} from {first} to {start} both sides are computed",
            f"from {key} to {key} + 1, for {key} at least {start}, since the larger side grows by a positive quotient:"
            f" {related(carried.left, carried.relation, carried.right)}",
            *step.steps,
        )
        return Certificate(METHOD, lines, facts.shown(frozenset([key])))
    return None
