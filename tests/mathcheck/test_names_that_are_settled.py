"""A point refutes a claim if the text introduced its names and every clause that may restrict them was read.

Other words may be unread.
"""

import pytest

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import PROVED, REFUTED, Finding

REFUTED_TEXTS = [
    r"For every integer $n\ge 3$, we compare factor by factor, so $n!\ge 3^n$.",
    r"For all integers $u$ and $v$ the cubes factor nicely: $u^3-v^3=(u-v)(u^2-uv+v^2)$.",
    r"Let $x$ be real. The quartic splits, after some thought, into two quadratics, $x^4+1=(x^2+x+1)(x^2-x+1)$.",
    r"For all real numbers $a,b$ the square of the difference is positive, and therefore $a^2+b^2>2ab$.",
    r"For every integer $n$ the list of cubes is short, so $7\mid n^3-n$.",
    r"Let $a_1=1$ and $a_{n+1}=a_n+n$. So the terms are the triangular numbers: $a_n=\frac{n(n+1)}{2}$ for all $n\ge 1$.",
    r"For all real numbers $y$ the square dominates, hence $y^2-y+1\ge 1$.",
]
NOT_REFUTED = [
    r"Let $n$ be a positive integer whose digits are all odd. Then $n^2\equiv 1\pmod 2$.",
    r"Let $x$ be a real number. Its square is two. Then $x^4=4$.",
    r"Let $n$ be an integer. As before it is even. Then $4\mid n^2$.",
    r"For all positive integers $n$ after $4$, $2^n>n^2$.",
    r"For all integers $n$ prime to $3$, we get $3\mid n^2-1$.",
    r"For all integers $n$, even ones, it follows that $4\mid n^2$.",
    r"Let $a,b$ be positive integers. Exchange them. Then $a\ge b$.",
    r"Let $a,b,c$ be positive reals. Equality holds, so $a^2+b^2+c^2=ab+bc+ca$.",
    r"For every such real $x$ we have $x^2=2$.",
    r"Let $y$ be a real number. From $y^3=5$ we get $y^6=25$.",
    r"Let $x,y$ be positive integers. It follows that $x^2-y^2=5$.",
    r"For every positive integer $n$ which is even, $4\mid n^2$.",
    r"Let $x$ be a real number. Squaring a number does not yield, for once, that $x^2\ge x$.",
    r"Let $n$ be a positive integer and $a_1=1$, $a_{n+1}=2a_n+1$. We have $a_n=3$ for some $n$.",
    r"Let $n$ be a positive integer. So $2^n\le n^2$ for infinitely few $n$ and for some small ones.",
    r"Let $n$ be an integer. It does not follow that $n^2\equiv 1\pmod 4$.",
]


def _refuted(text: str) -> list[Finding]:
    return [finding for finding in check_text(text) if finding.outcome == REFUTED]


@pytest.mark.parametrize("text", REFUTED_TEXTS)
def test_words_that_restrict_no_name_need_not_be_read(text: str) -> None:
    assert len(_refuted(text)) == 1


@pytest.mark.parametrize("text", NOT_REFUTED)
def test_words_that_may_restrict_a_name_prevent_a_refutation(text: str) -> None:
    assert _refuted(text) == []


def test_a_conclusion_is_a_claim_and_a_definition_is_not() -> None:
    outcomes = [
        finding.outcome for finding in check_text(r"Let $n=6k$ with an integer $k$. Taking factors leaves us with $3\mid n$.")
    ]
    assert PROVED in outcomes
    assert check_text(r"Let $x$ be a real number. Hence $y=5$.") == []


@pytest.mark.parametrize(
    "text",
    [
        r"For all $n\ge1$ we have $\binom83=56$ and $2\cdot n2^{n-1}=n2^n$.",
        r"Let $x$ be an integer. Then $x^2\not\equiv 2\pmod 5$.",
        r"We get $\frac{4!}{2!\,2!}=6$.",
    ],
)
def test_notation_without_signs_between_factors_is_read(text: str) -> None:
    assert {finding.outcome for finding in check_text(text)} == {PROVED}
