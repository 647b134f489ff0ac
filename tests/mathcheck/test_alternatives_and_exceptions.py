"""Exceptions, alternatives and newly defined operations: claims under them are not refuted, plain claims are."""

import pytest

from apps.mathcheck.checking import check_text
from apps.mathcheck.figures import CORPUS, Case, cases
from apps.mathcheck.findings import REFUTED

NAME = "alternatives_and_exceptions"


def refuted(text: str) -> list[str]:
    return [finding.anchor.quote for finding in check_text(text) if finding.outcome == REFUTED]


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    folder = tmp_path_factory.mktemp("corpus")
    (folder / f"{NAME}.toml").write_text((CORPUS / f"{NAME}.toml").read_text(encoding="utf-8"), encoding="utf-8")
    return cases(folder)


def test_no_true_claim_of_the_family_is_refuted(checked: list[Case]) -> None:
    assert sum(case.true for case in checked) >= 32
    assert [case.text for case in checked if case.wrongly_refuted] == []


def test_false_claims_near_them_are_refuted(checked: list[Case]) -> None:
    assert [case.text for case in checked if not case.true and case.outcome != REFUTED] == []


@pytest.mark.parametrize(
    "text",
    [
        r"For every integer $n$, either $4\mid n^2$ or $4\mid n^2-1$.",
        r"For all primes $p$ different from $3$, $3\mid p^2-1$.",
        r"For all integers $a$ and $b$ of opposite parity, $2\mid a+b+1$.",
        r"For all integers $a,b$, both odd, $8\mid a^2-b^2$.",
        r"For all squares $n$, $4\mid n(n-1)$.",
        r"For all consecutive integers $a,b$, $2\mid a+b+1$.",
        r"For all positive integers $n$ less than $5$, $2^n\le n^2+7$.",
        r"For all real numbers $x$ in the interval $(0,1)$, $x^2<x$.",
        r"For all integers $n$ whose square is odd, $8\mid n^2-1$.",
        r"For all positive reals $a,b,c$ with product $1$, $a+b+c\ge 3$.",
        r"For all positive reals $a,b$ of sum $1$, $ab\le \frac14$.",
        r"For all integers $n$ and all primes $p$ greater than $3$, $24\mid (p^2-1)n$.",
        r"For all real $x,y$ one of $x^2\le y^2$ and $y^2\le x^2$ holds.",
        r"Define $a\oplus b=a+b+ab$. Then $2\oplus 3=11$.",
        r"Define $|a|=a^2+1$. Then $|2|=5$.",
        r"For every positive integer $n$, save for $2,3,4$, $2^n>n^2$.",
        r"For all but three positive integers $n$, $2^n>n^2$.",
        r"For all reals $a,b$ of equal sign, $ab\ge0$.",
        r"For all positive divisors $n$ of $12$, $n\mid 24$.",
        r"For every prime divisor $p$ of $12$, $p\mid 6$.",
        r"For all consecutive $a,b$, $2\mid a+b+1$.",
        r"For all positive reals $a,b,c$ summing to $1$, $abc\le\frac1{27}$.",
        r"For all nonnegative integers $n$ past $4$, $2^n>n^2$.",
        r"Let $p$ be a prime which is neither $2$ nor $3$. Then $24\mid p^2-1$.",
        r"Let $p$ be a prime exceeding $3$. Then $24\mid p^2-1$.",
        r"Let $p$ be the next prime after $3$. Then $24\mid p^2-1$.",
        r"Let $n$ be the square of an odd integer. Then $8\mid n-1$.",
        r"Let $n$ be the sum of two odd integers. Then $4\mid n^2$.",
        r"Let $x,y$ be positive reals, one of them $1$. Then $(x-1)(y-1)=0$.",
        r"Let $x$ be real number of absolute value less than $1$. Then $x^2<1$.",
        r"Let $n$ be a positive integer and $d$ one of its divisors. Then $d\mid n^2$.",
        r"Let $n$ be an integer and $r$ its remainder modulo $3$. Then $3\mid n-r$.",
        r"For every integer $n$ and the next integer $m$, $2\mid nm$.",
        r"For all integers $a,b$ with one of them even, $2\mid ab$.",
        r"Let one of $a$ and $b$ be even. Then $2\mid ab$.",
        r"Let $a,b$ be two integers that are equal modulo $2$. Then $2\mid a+b$.",
        r"For all integers $a, b$ having an even sum, $2\mid a-b$.",
        r"For all $n$, $n^2\equiv0$ or $n^2\equiv1\pmod4$, and $2\mid n^2+n$.",
        r"For every odd $n$ coprime with $3$, $24\mid n^2-1$.",
        r"Define the operation $a\star b=ab+1$. Then $2\star3=7$.",
        r"Suppose $a*b=a+b+ab$ for all $a,b$. Then $2*3=11$.",
        r"Let $n$ be an odd square. Then $8\mid n-1$.",
    ],
)
def test_a_claim_restricted_in_words_is_not_refuted(text: str) -> None:
    assert refuted(text) == []


@pytest.mark.parametrize(
    ("narrowed", "plain"),
    [
        (r"For every prime $p$ at least $5$, $24\mid p^2-1$.", r"For every prime $p$, $24\mid p^2-1$."),
        (r"For all integers $a$ and $b$ of the same parity, $2\mid a+b$.", r"For all integers $a$ and $b$, $2\mid a+b$."),
        (r"For every integer $n$, $3\mid n^2$ or $3\mid n^2-1$.", r"For every integer $n$, $3\mid n^2-1$."),
        (r"Define $a*b=a+b+ab$. Then $2*3=11$.", r"Define $s=a+b+ab$. Then $2*3=11$."),
    ],
)
def test_the_claim_without_those_words_is_refuted(narrowed: str, plain: str) -> None:
    assert refuted(narrowed) == []
    assert len(refuted(plain)) == 1


@pytest.mark.parametrize(
    ("supposed", "claim"),
    [
        ("Let $a,b$ be integers. They have the same parity.", r"Then $2\mid a+b$."),
        ("Let $a,b$ be integers. Both are odd.", r"Then $2\mid a+b$."),
        ("Let $a,b,c$ be real numbers. Their sum is $0$.", "Then $a^3+b^3+c^3=3abc$."),
        ("Let $a,b,c$ be positive reals and let their product be $1$.", r"Then $a+b+c\ge3$."),
        ("Let $a,b,c$ be positive reals. We assume that they sum to three.", r"Then $abc\le1$."),
        ("Let $n$ be a positive integer. Suppose it is odd.", r"Then $2\mid n-1$."),
        ("Let $p$ be a prime. Two is not allowed.", r"Then $2\mid p-1$."),
    ],
)
def test_a_claim_supposed_only_in_words_is_not_refuted(supposed: str, claim: str) -> None:
    assert refuted(f"{supposed} {claim}") == []


def test_an_unrelated_sentence_excuses_nothing() -> None:
    assert len(refuted(r"Let $a,b$ be integers. This is easy. Then $2\mid a+b$.")) == 1
