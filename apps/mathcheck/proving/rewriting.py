"""Rewritings before a proof: binomial coefficients by factorials, and sums by closed forms that were proved or are known."""

from dataclasses import dataclass, replace
from itertools import pairwise, product

from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.facts import Facts
from apps.mathcheck.proving.relations import equation, inequality, related_by
from apps.mathcheck.proving.sums import by_induction
from apps.mathcheck.proving.whole import is_clear
from apps.mathcheck.scope import Condition, Domain
from apps.mathcheck.testing.evaluating import constant
from apps.mathcheck.tex.tree import BINDERS, Node, free_names, has, name, number, rebuilt, substituted, walk
from apps.mathcheck.tex.written import written

METHOD = "closed forms of sums"
HIGHEST_DEGREE = 8
_N, _K = name("#n"), name("#k")


def _choose(top: Node, bottom: Node) -> Node:
    return Node("fn", (top, bottom), "binom")


def _less(one: Node, two: Node) -> Node:
    return Node("add", (one, Node("neg", (two,))))


#: Sums over k from 0 to n that combinatorics knows: body, value, name.
_KNOWN: tuple[tuple[Node, Node, str], ...] = (
    (_choose(_N, _K), Node("pow", (number(2), _N)), "the number of subsets"),
    (
        Node("mul", (_K, _choose(_N, _K))),
        Node("div", (Node("mul", (_N, Node("pow", (number(2), _N)))), number(2))),
        "the sizes of all subsets together",
    ),
    (Node("pow", (_choose(_N, _K), number(2))), _choose(Node("mul", (number(2), _N)), _N), "Vandermonde's identity"),
)


@dataclass(frozen=True, slots=True)
class _Closed:
    """The value of a sum, why, and under which assumptions."""

    value: Node
    why: str
    assumptions: tuple[str, ...]


def with_factorials(facts: Facts) -> Facts:
    """The claim with `binom(n, k)` as `n!/(k! (n-k)!)` wherever k is not a number and `0 ≤ k ≤ n` is proved."""

    chosen = [part for side in (facts.claim.left, facts.claim.right) for part in walk(side) if part.value == "binom"]
    facts = facts.taking_whole(frozenset().union(*map(free_names, chosen)))

    def change(part: Node) -> Node | None:
        if part.op != "fn" or part.value != "binom" or constant(part.args[1]) is not None or not _is_choice(part, facts):
            return None
        top, bottom = part.args
        factorials = [Node("fn", (one,), "factorial") for one in (top, bottom, _less(top, bottom))]
        return Node("div", (factorials[0], Node("mul", (factorials[1], factorials[2]))))

    claim = facts.claim
    sides = [side if has(side, *BINDERS) else rebuilt(side, change) for side in (claim.left, claim.right)]
    return replace(facts, claim=Condition(claim.relation, sides[0], sides[1], claim.modulus))


def _is_choice(part: Node, facts: Facts) -> bool:
    top, bottom = part.args
    if not (is_clear(top) and is_clear(bottom)) or not all(map(facts.is_whole, free_names(part))):
        return False
    needed = (Condition(r"\ge", bottom, number(0)), Condition(r"\ge", top, bottom))
    return all((found := inequality(replace(facts, claim=one))) is not None and not found.where for one in needed)


def by_factorials(facts: Facts) -> Certificate | None:
    """A claim with binomial coefficients."""
    changed = with_factorials(facts)
    if changed.claim == facts.claim:
        return None
    found = related_by(changed)
    return None if found is None else found.after("with binom(n, k) = n!/(k! (n - k)!)")


def by_closed_forms(facts: Facts) -> Certificate | None:
    """A claim with sums, by their closed forms."""
    claim = facts.claim
    binders = {part for side in (claim.left, claim.right) for part in walk(side) if part.op in BINDERS}
    closed: dict[Node, _Closed] = {}
    for part in sorted(binders, key=written):
        found = _polynomial_sum(part, facts) or _known_sum(part, facts)
        if found is None:
            return None
        closed[part] = found
    values = {part: one.value for part, one in closed.items()}
    sides = [rebuilt(side, values.get) for side in (claim.left, claim.right)]
    rest = related_by(replace(facts, claim=Condition(claim.relation, sides[0], sides[1])))
    if rest is None or claim.modulus is not None:
        return None
    lines = tuple(f"{written(part)} = {written(one.value)}: {one.why}" for part, one in closed.items())
    assumed = [line for one in closed.values() for line in one.assumptions] or facts.shown(claim.names)
    return Certificate(METHOD, (*lines, *rest.steps), tuple(dict.fromkeys(assumed)), rest.where)


def _polynomial_sum(part: Node, facts: Facts) -> _Closed | None:
    """The sum of a polynomial by Newton's differences, checked by induction."""
    low, high, body = part.args[:3]
    start, bound = constant(low), str(part.value)
    if part.op != "sum" or start is None or free_names(body) - {bound} or not _is_polynomial(body):
        return None
    points = [constant(substituted(body, {bound: number(start + step)})) for step in range(HIGHEST_DEGREE + 1)]
    values = [value for value in points if value is not None]
    if len(values) != len(points):
        return None
    length, terms = Node("add", (_less(high, low), number(1))), list[Node]()
    for order in range(HIGHEST_DEGREE):
        if any(values):
            terms.append(Node("mul", (number(values[0]), _choose(length, number(order + 1)))))
        values = [two - one for one, two in pairwise(values)]
    if any(values):
        return None
    closed = Node("add", (number(0), *terms))
    proof = by_induction(replace(facts, claim=Condition("=", part, closed)))
    return None if proof is None or proof.where else _Closed(closed, "by induction", proof.assumptions)


def _is_polynomial(body: Node) -> bool:
    powers = (part.args[1] for part in walk(body) if part.op == "pow")
    return all(part.op in ("num", "name", "add", "mul", "neg", "pow") for part in walk(body)) and all(
        one.op == "num" for one in powers
    )


def _known_sum(part: Node, facts: Facts) -> _Closed | None:
    """A sum of binomial coefficients from 0 to a whole name n ≥ 0, if its body is one of the table."""
    low, high, body = part.args[:3]
    if part.op != "sum" or constant(low) != 0 or high.op != "name" or len(part.args) > 3:
        return None
    key, bound = str(high.value), facts.bound(str(high.value))
    if not facts.is_whole(key) or bound.low is None or bound.low < 0:
        return None
    for pattern, value, named in _KNOWN:
        wanted = substituted(pattern, {"#n": high, "#k": name(str(part.value))})
        if body == wanted or _is_same(body, wanted, str(part.value), facts):
            return _Closed(substituted(value, {"#n": high}), named, facts.shown(frozenset([key])))
    return _binomial_theorem(part, key, facts)


def _binomial_theorem(part: Node, key: str, facts: Facts) -> _Closed | None:
    """The sum of `binom(n, k)*a^k*b^(n-k)` as `(a + b)^n`; a missing power has the base 1."""
    bound, body, high = str(part.value), part.args[2], name(key)
    down = _less(high, name(bound))
    powers = {one.args for one in walk(body) if one.op == "pow"}
    up = [base for base, exponent in powers if exponent == name(bound)] or [number(1)]
    falling = [base for base, exponent in powers if exponent == down] or [number(1)]
    for one, two in product(up, falling):
        wanted = Node("mul", (_choose(high, name(bound)), Node("pow", (one, name(bound))), Node("pow", (two, down))))
        total = Node("add", (one, two))
        if free_names(total) & {key, bound} or not _is_same(body, wanted, bound, facts):
            continue
        assumed = facts.shown(frozenset([key]))
        if constant(total) != 0:
            return _Closed(Node("pow", (total, high)), "the binomial theorem", assumed)
        return _Closed(number(0), "the binomial theorem", assumed) if facts.bound(key).start >= 1 else None
    return None


def _is_same(body: Node, wanted: Node, bound: str, facts: Facts) -> bool:
    domains = {**facts.domains, bound: Domain(kind="integer", declared=True)}
    found = equation(Facts(Condition("=", body, wanted), domains, ()))
    return found is not None and not found.where
