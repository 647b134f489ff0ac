"""Turns the verdict of tests into *proved* where a prover finds a certificate."""

import re
from dataclasses import replace

from apps.mathcheck.claims import Claim
from apps.mathcheck.findings import PROVED, SURVIVED
from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.prove import prove
from apps.mathcheck.scope import Scope
from apps.mathcheck.testing.counting import IN_FULL
from apps.mathcheck.testing.deciding import EXACTLY, OPAQUE, TOO_FEW, TOO_MUCH, Verdict
from apps.mathcheck.words.restrictions import uses

#: Reasons of claims without a test, which may have a proof.
UNTESTED = frozenset([TOO_FEW, TOO_MUCH, OPAQUE])
#: Words of texts whose undeclared letters may not be numbers.
_OTHER_ALGEBRA = re.compile(
    r"\b(?:matri\w+|vectors?|quaternions?|permutations?|operators?|non-?commut\w*|compositions?|events?|propositions?|rings?"
    r"|groups?)\b",
    re.IGNORECASE,
)


def may_be_proved(verdict: Verdict) -> bool:
    """Whether a proof would change the verdict."""
    return verdict.outcome == SURVIVED or verdict.reason in UNTESTED


def or_proved(verdict: Verdict, claim: Claim, scope: Scope, text: str, operations: set[tuple[str, object]]) -> Verdict:
    """The verdict, or *proved*. `scope` is what a proof may assume, `operations` are those that the text redefines."""
    if any(uses(side, operations) for variant in claim.variants for side in (variant.left, variant.right)):
        return verdict
    if _OTHER_ALGEBRA.search(text) and not all(scope.is_declared(name) for name in claim.names):
        return verdict
    certificate = prove(claim.variants, scope)
    return verdict if certificate is None else replace(verdict, outcome=PROVED, reason="", certificate=certificate)


def counted_in_full(verdict: Verdict) -> Verdict:
    """The verdict on a claim in words, *proved* if everything was computed."""
    if verdict.outcome != SURVIVED or verdict.tried not in (EXACTLY, IN_FULL):
        return verdict
    return replace(verdict, outcome=PROVED, certificate=Certificate("exact arithmetic", (verdict.tried,)))
