"""Rewritings before a proof: binomial coefficients by factorials, and sums by closed forms that were proved or are known."""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from apps.mathcheck.proving.cases import together
from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.facts import Facts
from apps.mathcheck.proving.relations import equation, inequality, related_by
from apps.mathcheck.proving.summing.binomials import counting, with_factorials
from apps.mathcheck.proving.summing.hypergeometric import closed_sum
from apps.mathcheck.proving.summing.induction import FURTHEST_START, at_first
from apps.mathcheck.scope import Condition, Domain
from apps.mathcheck.testing.evaluating import constant
from apps.mathcheck.tex.tree import BINDERS, Node, free_names, name, number, rebuilt, substituted, walk
from apps.mathcheck.tex.written import related, written

METHOD = "closed forms of sums"
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
    #: The condition that the sum has a term, where the value needs it.
    least: tuple[Condition, ...] = ()
    where: str = ""


def by_factorials(facts: Facts) -> Certificate | None:
    """A claim with binomial coefficients."""
    changed = with_factorials(facts)
    if changed.claim == facts.claim:
        return None
    found = related_by(changed)
    return None if found is None else found.after("with binom(n, k) = n!/(k! (n - k)!)")


def by_closed_forms(facts: Facts) -> Certificate | None:
    """A claim with sums, by their closed forms."""
    facts = counting(facts)
    claim = facts.claim
    binders = {part for side in (claim.left, claim.right) for part in walk(side) if part.op in BINDERS}
    closed: dict[Node, _Closed] = {}
    for part in sorted(binders, key=written):
        found = _known_sum(part, facts) or _telescoped(part, facts)
        if found is None:
            return None
        closed[part] = found
    values = {part: one.value for part, one in closed.items()}
    sides = [rebuilt(side, values.get) for side in (claim.left, claim.right)]
    least = tuple(dict.fromkeys(condition for one in closed.values() for condition in one.least))
    lines, assumed = _few_terms(facts, least) or (None, ())
    if claim.modulus is not None or lines is None:
        return None
    known = replace(facts, claim=Condition(claim.relation, sides[0], sides[1]), conditions=(*facts.conditions, *least))
    rest = related_by(with_factorials(known))
    if rest is None:
        return None
    shown = [f"{written(part)} = {written(one.value)}: {one.why}" for part, one in closed.items()]
    assumed = (*(line for one in closed.values() for line in one.assumptions), *assumed, *facts.shown(claim.names))
    where = together([rest.where, *(one.where for one in closed.values())])
    return Certificate(METHOD, (*lines, *shown, *rest.steps), tuple(dict.fromkeys(assumed)), where)


def _few_terms(facts: Facts, least: tuple[Condition, ...]) -> tuple[list[str], tuple[str, ...]] | None:
    """Lines for the cases in which a sum has no term, and assumptions that exclude them; None if such a case is not proved."""
    lines, assumed = list[str](), list[str]()
    for one in least:
        excluded = inequality(replace(facts, claim=one))
        if excluded is not None and not excluded.where:
            continue
        if not any(facts.domains[key].declared for key in one.names if key in facts.domains) and not facts.conditions:
            assumed.append(related(one.left, one.relation, one.right))
            continue
        cases = _cases_without_terms(facts, one)
        if cases is None:
            return None
        lines += cases
    return lines, tuple(assumed)


def _cases_without_terms(facts: Facts, least: Condition) -> list[str] | None:
    if len(least.names) != 1:
        return None
    (key,) = least.names
    bound, lines = facts.bound(key), list[str]()
    if not bound.whole or bound.low is None:
        return None
    for start in range(bound.start, bound.start + FURTHEST_START):
        if least.at({key: Fraction(start)}) is True:
            return lines
        found = at_first(facts, key, start)
        if found is None or found.where:
            return None
        lines.append(f"{key} = {start}: {found.in_one_line}")
    return None


def _telescoped(part: Node, facts: Facts) -> _Closed | None:
    """The sum by a telescope for its terms."""
    if len(part.args) > 3 and constant(part.args[0]) is None:
        return None
    found = closed_sum(part, facts)
    if found is None:
        return None
    least = Condition(r"\ge", part.args[1], found.low)
    return _Closed(found.value, found.why, (), (least,), found.where)


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
