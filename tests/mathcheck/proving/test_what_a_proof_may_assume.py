"""Only what is certainly in force may be assumed: no closed case, other clause, conclusion or older meaning of a name."""

import pytest

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import PROVED


def outcome(text: str) -> str:
    """The outcome of the last formula."""
    return check_text(text)[-1].outcome


@pytest.mark.parametrize(
    ("held", "ended"),
    [
        (
            r"Let $n$ be an integer. Case 1: suppose that $n$ is odd. Then $n^2\equiv1\pmod4$.",
            r"Let $n$ be an integer. Case 1: suppose that $n$ is odd. Then $n^2\equiv1\pmod4$. Case 2: it is even. "
            r"Then $n^2\equiv1\pmod4$.",
        ),
        (
            r"If $x>1$ is real, then $x^2>x$.",
            r"If $x>1$ is real, then $x^2>x$. Let $x$ be real. Then $x^2>x$.",
        ),
        (
            r"Let $x>1$ be real. Then $x^2>x$.",
            r"Let $x>1$ be real. Then $x^2>x$. Now let $x$ be any real number. Then $x^2>x$.",
        ),
        (
            r"Let $x$ be real with $x\ge2$. Then $x^3+4\ge3x^2$.",
            r"Let $x$ be real. Then $x^3+4\ge3x^2$, with equality for $x=2$.",
        ),
        (
            r"Let $p$ be an odd prime. Then $2\mid p+1$.",
            r"Let $p$ be a prime. Since it has two divisors, $p$ is odd and $2\mid p+1$.",
        ),
        (
            r"Let $n$ be an integer with $n\ge5$. Then $n^2\ge4n+5$.",
            r"Let $n$ be an integer. Either $n\ge5$ or $n\ge1$. Then $n^2\ge4n+5$.",
        ),
        (
            r"Suppose $a>b$ for reals $a$ and $b$. Then $a-b>0$.",
            r"We want $a>b$ for reals $a$ and $b$. Then $a-b>0$.",
        ),
        (
            r"Write $n=2k+1$ for some integer $k$. Then $n^2\equiv1\pmod8$.",
            r"Assume for contradiction that $n=2k+1$ for some integer $k$. This is impossible. Let $n$ be an integer. "
            r"Then $n^2\equiv1\pmod8$.",
        ),
    ],
)
def test_a_condition_counts_while_it_is_in_force(held: str, ended: str) -> None:
    assert outcome(held) == PROVED
    assert outcome(ended) != PROVED


@pytest.mark.parametrize(
    "text",
    [
        r"Define $a*b=a+b+ab$. We have $a*b=b*a$.",
        "Let $A$ and $B$ be matrices. Then $(A+B)^2=A^2+2AB+B^2$.",
    ],
)
def test_letters_that_may_not_be_numbers_prove_nothing(text: str) -> None:
    assert outcome(text) != PROVED


def test_a_chain_is_proved_only_as_a_whole() -> None:
    found = check_text(r"Let $N$ be the number of surjections. Thus $N=2^4-1=15$.")
    assert [(one.outcome, one.partial) for one in found] == [("not_understood", True), (PROVED, True)]
    found = check_text(r"We get $2^4-1=15=3\cdot5$.")
    assert [(one.outcome, one.partial) for one in found] == [(PROVED, False), (PROVED, False)]
