"""A name bound by a new "for all": earlier conditions on it neither save a false claim nor hide it."""

import pytest

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import NOT_UNDERSTOOD, PROVED, REFUTED
from apps.mathcheck.parts import check_parts


def outcome(text: str) -> str:
    """Of the last claim."""
    return check_text(text)[-1].outcome


@pytest.mark.parametrize(
    "claim",
    [
        "For all real numbers $x$, $|x|=x$.",
        "We have $|x|=x$ for every real number $x$.",
        r"For all $x\in\mathbb R$, $|x|=x$.",
    ],
)
def test_a_new_quantifier_drops_the_conditions_of_an_earlier_one(claim: str) -> None:
    assert outcome("For all real $x>0$, $x+1>1$. " + claim) == REFUTED
    assert outcome("For all real $x>0$, $|x|=x$.") == PROVED


def test_a_new_quantifier_drops_unread_conditions() -> None:
    unread = "We study frumious positive integers $n$. "
    assert outcome(unread + r"For all positive integers $n$, $6\mid n^3-n+1$.") == REFUTED
    assert outcome(unread + r"For all positive integers $n$, $6\mid n^3-n$.") == PROVED
    assert outcome(unread + r"Then $6\mid n^3-n+1$.") == NOT_UNDERSTOOD


@pytest.mark.parametrize(
    "text",
    [
        "Let $x>0$ be real. For all real numbers $x$, $|x|=x$.",
        "For all real $x>0$ we have $x+1>1$. For all such real numbers $x$, $|x|=x$.",
        "Suppose $n$ is a frumious integer. For all positive integers $n$, $6\\mid n^3-n+1$.",
        "Case 2: $n$ is frumious. For all positive integers $n$, $6\\mid n^3-n+1$.",
        "Assume that we have frumious positive integers $n$. For all positive integers $n$, $\\sum_{k=1}^n k=n^2$.",
        "Let $a$ be the frumious constant. For all real numbers $x$, $a\\ge 2x-x^2$.",
        "Let $n$ be odd. For all integers $m$, $8\\mid n^2-1+8m$.",
        "Let $n\\ge 5$ be an integer and $a=n+1$. For all integers $n$, $2a\\ge 12$.",
    ],
)
def test_conditions_that_may_still_apply_prevent_a_refutation(text: str) -> None:
    assert outcome(text) != REFUTED


def test_the_conditions_apply_again_after_the_sentence() -> None:
    text = r"Let $x>0$ be real. For all real numbers $x$, $x^2\ge 0$. Then $|x|=x$."
    assert outcome(text) == PROVED


def test_the_conditions_of_the_problem_stay() -> None:
    claim = [("statement", "For all positive integers $n$ we have $2^n>n^2$.")]
    assert [one.outcome for one in check_parts(claim, "Prove it for all integers $n\\ge 5$.", 20)] == [NOT_UNDERSTOOD]
    assert [one.outcome for one in check_parts(claim, "", 20)] == [REFUTED]
