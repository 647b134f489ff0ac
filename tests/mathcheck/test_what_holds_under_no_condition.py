"""A claim whose conditions no test point meets survives if it holds without them, and is not refuted otherwise."""

import pytest

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import NOT_UNDERSTOOD, PROVED, REFUTED, SURVIVED

UNMET = "Let $x,y,z$ be positive real numbers with $x^3+y^3+z^3=7$ and $xyz=5$. "


@pytest.mark.parametrize("claim", ["x+y-(x-y)=2y", r"x^2+y\le x^2+y+1", "(x-y)^2+4xy=(x+y)^2", r"x^2+y^2\ge 2xy"])
def test_a_claim_that_holds_for_all_numbers_survives_or_is_proved(claim: str) -> None:
    (finding,) = check_text(f"{UNMET}Then ${claim}$.")
    assert finding.outcome in (PROVED, SURVIVED)
    assert finding.tests >= 25


@pytest.mark.parametrize("claim", ["x+y=2z", r"x+y\le x-1", "(x+y)^2=x^2+y^2"])
def test_a_claim_that_fails_somewhere_is_not_understood(claim: str) -> None:
    (finding,) = check_text(f"{UNMET}Then ${claim}$.")
    assert finding.outcome == NOT_UNDERSTOOD


def test_a_claim_that_fails_where_the_conditions_hold_does_not_survive() -> None:
    text = r"Let $n$ be a positive integer with $n\ge 1000$. For all such positive integers $n$ we have $n\le 5000$."
    assert SURVIVED not in [finding.outcome for finding in check_text(text) if r"\le" in finding.anchor.quote]
    (finding,) = check_text(r"Let $a,b$ be positive integers with $a=b+1$. Then $a^2-b^2=2b+2$.")
    assert finding.outcome == REFUTED
