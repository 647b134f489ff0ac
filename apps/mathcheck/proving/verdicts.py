"""Turns the verdict of tests into *proved* where a prover finds a certificate."""

import re
from dataclasses import replace

from apps.mathcheck.claims import Claim
from apps.mathcheck.findings import NOT_UNDERSTOOD, PROVED, REFUTED, SURVIVED, Counterexample
from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.prove import prove
from apps.mathcheck.proving.recurrences import about_terms, by_recurrence, tested
from apps.mathcheck.proving.sequences import recurrences_in
from apps.mathcheck.scope import Scope
from apps.mathcheck.testing.counting import IN_FULL
from apps.mathcheck.testing.deciding import EXACTLY, OPAQUE, TOO_FEW, TOO_MUCH, Verdict
from apps.mathcheck.words.restrictions import uses

#: Reasons of claims without a test, which may have a proof.
UNTESTED = frozenset([TOO_FEW, TOO_MUCH, OPAQUE])
_TERM = re.compile(r"[A-Za-z]+_\d+")
#: Words of texts whose undeclared letters may not be numbers.
_OTHER_ALGEBRA = re.compile(
    r"\b(?:complex|imaginary|matri\w+|vectors?|quaternions?|permutations?|operators?|non-?commut\w*|compositions?|events?|propositions?|rings?"
    r"|groups?)\b|\\(?:mathbb|mathbf|Bbb)\s*\{?\s*[CHF]\b",
    re.IGNORECASE,
)


def may_be_proved(verdict: Verdict) -> bool:
    """Whether a proof would change the verdict."""
    return verdict.outcome == SURVIVED or verdict.reason in UNTESTED


def or_proved(verdict: Verdict, claim: Claim, scope: Scope, text: str, operations: set[tuple[str, object]]) -> Verdict:
    """The verdict, or *proved*. `scope` is what a proof may assume, `operations` are those that the text redefines."""
    if may_mean_other(claim, scope, text, operations):
        return verdict
    certificate = prove(claim.variants, scope)
    if certificate is not None and certificate.where and any(one.relation == "=" for one in scope.relevant(claim.names)):
        return verdict
    return verdict if certificate is None else replace(verdict, outcome=PROVED, reason="", certificate=certificate)


def may_mean_other(claim: Claim, scope: Scope, text: str, operations: set[tuple[str, object]]) -> bool:
    """Whether the text redefines an operation of the claim, or its undeclared letters may not be numbers."""
    if any(uses(side, operations) for variant in claim.variants for side in (variant.left, variant.right)):
        return True
    return _OTHER_ALGEBRA.search(text) is not None and not all(scope.is_declared(name) for name in claim.names)


def about_a_recurrence(verdict: Verdict, claim: Claim, scope: Scope, said: Scope, is_asserted: bool) -> Verdict:
    """The verdict on a claim about terms of a sequence that the text determines by a recurrence; else the one given.

    It is refuted if the sentence asserts it, and it fails at every computed term, is about single terms, or its index is
    settled. `said` has every condition of the text.
    """
    if verdict.reason not in UNTESTED and not any(_TERM.fullmatch(name) for name in claim.names):
        return verdict
    known = recurrences_in(scope)
    about = about_terms(claim, known) if known else None
    found = tested(about, known, scope, [*scope.conditions, *said.conditions]) if about is not None else None
    if about is None or found is None:
        return verdict
    if not found.failed:
        certificate = by_recurrence(about, known, scope)
        outcome = PROVED if certificate is not None else SURVIVED
        return Verdict(outcome, tests=found.tests, tried=found.tried, certificate=certificate)
    settled = {key for key in about.names if not key.endswith("()")} <= said.settled
    if not is_asserted or not (settled or len(found.failed) == found.tests):
        return Verdict(NOT_UNDERSTOOD, "it fails for some terms, but it may be meant under conditions that were not read")
    at, left, right = found.failed[0]
    (key, *_) = sorted(key for key in about.names if not key.endswith("()")) or [""]
    shown = Counterexample({key: at} if key else {}, left, right)
    return Verdict(REFUTED, tests=found.tests, counterexample=shown, tried=found.tried)


def counted_in_full(verdict: Verdict) -> Verdict:
    """The verdict on a claim in words, *proved* if everything was computed."""
    if verdict.outcome != SURVIVED or verdict.tried not in (EXACTLY, IN_FULL):
        return verdict
    return replace(verdict, outcome=PROVED, certificate=Certificate("exact arithmetic", (verdict.tried,)))
