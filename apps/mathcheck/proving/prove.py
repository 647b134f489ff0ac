"""Tries the provers on a claim, cheapest first."""

from collections.abc import Callable, Iterator, Sequence

from apps.mathcheck.proving.calculus.inequalities import by_calculus
from apps.mathcheck.proving.cases import by_cases
from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.divisors import about_primes, common_divisor, gcd_and_lcm
from apps.mathcheck.proving.exactly import computed, enumerated
from apps.mathcheck.proving.facts import Facts
from apps.mathcheck.proving.given import stated
from apps.mathcheck.proving.integer_parts import by_integer_parts
from apps.mathcheck.proving.multiples import divided
from apps.mathcheck.proving.normal.forms import NoNormalForm
from apps.mathcheck.proving.powers import divided_powers, power_inequality
from apps.mathcheck.proving.relations import equation, inequality
from apps.mathcheck.proving.residues import congruence
from apps.mathcheck.proving.summing.binomials import with_factorials
from apps.mathcheck.proving.summing.closed_forms import by_closed_forms, by_factorials
from apps.mathcheck.proving.summing.induction import by_induction, growth_inequality, unrolled
from apps.mathcheck.scope import Condition, Domain, Scope
from apps.mathcheck.testing.sampling import points
from apps.mathcheck.testing.work import PER_TRIAL, OutOfWork, allowance
from apps.mathcheck.tex.tree import has, walk

LARGEST = 300
PER_PROOF = 4 * PER_TRIAL
_ORDERED = ("<", ">", r"\le", r"\ge", r"\ne")


def prove(variants: Sequence[Condition], scope: Scope) -> Certificate | None:
    """A certificate for the claim in every reading; that of the first reading is returned. None if one is not proved."""
    found = [_proved(variant, scope) for variant in variants]
    return found[0] if found and all(found) else None


def _proved(claim: Condition, scope: Scope) -> Certificate | None:
    if sum(1 for side in (claim.left, claim.right) for _ in walk(side)) > LARGEST:
        return None
    return next((found for facts in facts_of(claim, scope) if (found := _attempt(facts)) is not None), None)


def facts_of(claim: Condition, scope: Scope) -> Iterator[Facts]:
    """What a proof may use: the domains alone, then also all conditions, if a point meets them."""
    yield _facts(claim, scope, ())
    conditions = tuple(one for one in scope.relevant(claim.names) if not any(key.endswith("()") for key in one.names))
    if conditions and _is_satisfiable(claim, scope, conditions):
        yield _facts(claim, scope, conditions)


def _facts(claim: Condition, scope: Scope, conditions: tuple[Condition, ...]) -> Facts:
    names = claim.names.union(*(one.names for one in conditions))
    unrolled_claim = Condition(claim.relation, unrolled(claim.left), unrolled(claim.right), claim.modulus)
    return Facts(unrolled_claim, {key: scope.domain(key) for key in names}, conditions)


def _attempt(facts: Facts) -> Certificate | None:
    if (given := stated(facts)) is not None:
        return given
    with allowance(PER_PROOF):
        for prover in _provers(facts):
            try:
                if (found := prover(facts)) is not None:
                    return found
            except (NoNormalForm, OutOfWork):
                continue
    return None


def _provers(facts: Facts) -> list[Callable[[Facts], Certificate | None]]:
    claim = facts.claim
    if not claim.names:
        return [computed, equation] if claim.relation == "=" and claim.modulus is None else [computed, congruence]
    if claim.modulus is not None or claim.relation in (r"\mid", r"\nmid"):
        return [congruence, divided, divided_powers, about_primes, enumerated]
    if has(claim.left, "sum", "prod") or has(claim.right, "sum", "prod"):
        return [by_induction, by_closed_forms, enumerated]
    if claim.relation == "=":
        return [equation, by_factorials, common_divisor, gcd_and_lcm, by_integer_parts, by_cases, enumerated]
    if claim.relation not in _ORDERED:
        return []
    by_growth = [_growing_factorials, growth_inequality, power_inequality]
    return [inequality, *by_growth, by_integer_parts, by_cases, by_calculus, enumerated]


def _growing_factorials(facts: Facts) -> Certificate | None:
    changed = with_factorials(facts)
    return None if changed.claim == facts.claim else growth_inequality(changed)


def _is_satisfiable(claim: Condition, scope: Scope, conditions: Sequence[Condition]) -> bool:
    """Whether a point meets all domains and conditions, so that the proof is not about nothing."""
    limited = Scope(domains=scope.domains, conditions=list(conditions))
    silent = {key for one in conditions for key in one.names if not scope.is_declared(key)}
    for kinds in ({key: Domain(kind="integer", sign="positive") for key in silent}, {}):
        with allowance(PER_TRIAL):
            if next(points(limited, sorted(claim.names), kinds), None) is not None:
                return True
    return False
