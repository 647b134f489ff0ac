"""Greatest common divisors of polynomials, products of a gcd and an lcm, and theorems about primes."""

from dataclasses import replace
from fractions import Fraction
from math import gcd, lcm

from sympy import QQ, Symbol, gcdex
from sympy import Poly as Dense

from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.facts import Facts
from apps.mathcheck.proving.normal.algebra import Algebra
from apps.mathcheck.proving.relations import equation, inequality
from apps.mathcheck.scope import Condition, Domain
from apps.mathcheck.testing.evaluating import constant
from apps.mathcheck.testing.work import METER, SYMPY, spend
from apps.mathcheck.tex.tree import Node, free_names, name, number, rebuilt, walk

LARGEST_MULTIPLE, HIGHEST_DEGREE = 2_000, 6
COMBINATION, THEOREM = "a whole combination", "a theorem"


def common_divisor(facts: Facts) -> Certificate | None:
    """`gcd(A(n), B(n)) = c`: a whole combination of A and B is a number L, so that every residue modulo L decides."""
    claim = facts.claim
    for side, value in ((claim.left, claim.right), (claim.right, claim.left)):
        wanted = constant(value)
        if claim.relation == "=" and side.op == "fn" and side.value == "gcd" and len(side.args) == 2 and wanted is not None:
            return _by_combination(facts, side, wanted)
    return None


def _by_combination(facts: Facts, call: Node, wanted: Fraction) -> Certificate | None:
    names = free_names(call)
    if len(names) != 1 or any(one.declared and one.kind != "integer" for key, one in facts.domains.items() if key in names):
        return None
    (key,) = names
    algebra = Algebra(facts.domains)
    forms = algebra.over(*call.args)
    if algebra.others() or any(form.bottom != 1 for form in forms):
        return None
    tops = [form.top for form in forms]
    symbol = Symbol(key)
    dense = [Dense(top.as_expr(), symbol, domain=QQ) for top in tops]
    if any(one.degree() > HIGHEST_DEGREE or any(value.q != 1 for value in one.all_coeffs()) for one in dense):
        return None
    if any(one.is_zero for one in dense):  # SymPy divides by it.
        return None
    METER.spent += SYMPY
    first, second, common = gcdex(dense[0], dense[1])
    if common.degree() != 0:
        return None
    size = lcm(*(int(value.q) for one in (first, second) for value in one.all_coeffs()))
    total = int(size * common.LC()) if (size * common.LC()).is_Integer else 0
    if not 0 < total <= LARGEST_MULTIPLE:
        return None
    spend(20 * total)
    for residue in range(total):
        if gcd(total, *(int(one.eval(residue)) for one in dense)) != wanted:
            return None
    shown = f"({size * first.as_expr()})*({tops[0].as_expr()}) + ({size * second.as_expr()})*({tops[1].as_expr()}) = {total}"
    tried = f"the greatest common divisor with {total} is {wanted} for every {key} modulo {total}"
    steps = (shown.replace("**", "^"), *((tried,) if total > 1 else ()))
    return Certificate(COMBINATION, steps, (f"{key} whole",))


def gcd_and_lcm(facts: Facts) -> Certificate | None:
    """Equations with both of two positive whole names, by `gcd(a, b)*lcm(a, b) = a*b`."""
    claim = facts.claim
    pairs = {
        frozenset(str(one.value) for one in part.args): part.args
        for side in (claim.left, claim.right)
        for part in walk(side)
        if part.op == "fn" and part.value == "lcm" and len(part.args) == 2 and all(one.op == "name" for one in part.args)
    }
    if claim.relation != "=" or claim.modulus is not None or len(pairs) != 1:
        return None
    ((pair, both),) = pairs.items()
    if any(not (bound := facts.bound(key)).whole or bound.low is None or bound.low < 1 for key in pair):
        return None

    def change(part: Node) -> Node | None:
        if part.op == "fn" and part.value in ("gcd", "lcm") and {str(one.value) for one in part.args} == pair:
            return Node("div", (Node("mul", both), name("G#"))) if part.value == "lcm" else name("G#")
        return None

    domains = {**facts.domains, "G#": Domain(kind="integer", sign="positive", declared=True)}
    found = equation(
        replace(facts, domains=domains, claim=Condition("=", *(rebuilt(s, change) for s in (claim.left, claim.right))))
    )
    if found is None or found.where:
        return None
    return Certificate(THEOREM, ("gcd(a, b)*lcm(a, b) = a*b", *found.steps), facts.shown(pair))


def about_primes(facts: Facts) -> Certificate | None:
    """Divisibility by a prime name: the theorems of Wilson and Fermat, binomial coefficients, and sums `x^2 + 1`."""
    claim = facts.claim
    if claim.modulus is not None and claim.relation in ("=", r"\equiv"):
        prime, value = claim.modulus, Node("add", (claim.left, Node("neg", (claim.right,))))
    elif claim.relation in (r"\mid", r"\nmid"):
        prime, value = claim.left, claim.right
    else:
        return None
    domain = facts.domains.get(str(prime.value))
    if prime.op != "name" or domain is None or not (domain.prime and domain.declared):
        return None
    facts = facts.taking_whole(claim.names)
    if claim.relation == r"\nmid":
        return _never_minus_one(facts, prime, value)
    before = Node("add", (prime, number(-1)))
    wilson = Node("add", (Node("fn", (before,), "factorial"), number(1)))
    if _is(facts, value, wilson):
        return _theorem(facts, "Wilson: (p-1)! + 1 is divisible by the prime p")
    if value.op == "fn" and value.value == "binom" and value.args[0] == prime:
        least, most = Condition(r"\ge", value.args[1], number(1)), Condition(r"\le", value.args[1], before)
        if _are_whole(facts, value) and all(_holds(facts, one) for one in (least, most)):
            return _theorem(facts, "the prime p divides binom(p, k) for 0 < k < p")
        return None
    return _fermat(facts, prime, before, value)


def _fermat(facts: Facts, prime: Node, before: Node, value: Node) -> Certificate | None:
    bases = {part.args[0]: None for part in walk(value) if part.op == "pow" and free_names(part.args[1]) & free_names(prime)}
    for base in bases:
        if not (base.op in ("num", "name") and _are_whole(facts, base)):
            continue
        if _is(facts, value, Node("add", (Node("pow", (base, prime)), Node("neg", (base,))))):
            return _theorem(facts, "Fermat: a^p - a is divisible by the prime p")
        if _is(facts, value, Node("add", (Node("pow", (base, before)), number(-1)))) and _is_prime_to(facts, prime, base):
            return _theorem(facts, "Fermat: a^(p-1) - 1 is divisible by the prime p, which does not divide a")
    return None


def _is_prime_to(facts: Facts, prime: Node, base: Node) -> bool:
    """Whether a condition says that the prime does not divide the base, or the prime exceeds a base that is a number."""
    for one in facts.conditions:
        sides = (one.left, one.right)
        if one.relation == r"\nmid" and sides == (prime, base):
            return True
        for call, value in (sides, sides[::-1]):
            coprime = call.op == "fn" and call.value == "gcd" and set(call.args) == {prime, base} and value == number(1)
            if one.relation == "=" and one.modulus is None and coprime:
                return True
    low, size = facts.bound(str(prime.value)), constant(base)
    return size is not None and size.denominator == 1 and low.low is not None and 0 < abs(size) < low.start


def _never_minus_one(facts: Facts, prime: Node, value: Node) -> Certificate | None:
    names = [part for part in walk(value) if part.op == "name"]
    is_three = any(
        one.relation in ("=", r"\equiv") and one.left == prime and one.right == number(3) and one.modulus == number(4)
        for one in facts.conditions
    )
    if len(names) != 1 or not is_three or not _are_whole(facts, value):
        return None
    if _is(facts, value, Node("add", (Node("pow", (names[0], number(2))), number(1)))):
        return _theorem(facts, "no prime p with p ≡ 3 (mod 4) divides x^2 + 1, since -1 is not a square modulo p")
    return None


def _theorem(facts: Facts, named: str) -> Certificate:
    return Certificate(THEOREM, (named,), facts.shown(facts.claim.names))


def _is(facts: Facts, value: Node, wanted: Node) -> bool:
    """Whether two expressions are equal or opposite wherever they have a value, with no point left out."""
    for one in (wanted, Node("neg", (wanted,))):
        found = equation(replace(facts, claim=Condition("=", value, one)))
        if found is not None and not found.where:
            return True
    return False


def _holds(facts: Facts, claim: Condition) -> bool:
    found = inequality(replace(facts, claim=claim))
    return found is not None and not found.where


def _are_whole(facts: Facts, node: Node) -> bool:
    """Whether all names are whole, and a number is."""
    if node.op == "num" and Fraction(node.value or 0).denominator != 1:
        return False
    return all(map(facts.is_whole, free_names(node)))
