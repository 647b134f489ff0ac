r"""Integer parts, absolute values, binomial coefficients, common divisors, powers and primes: what is proved, what is not."""

import pytest

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import PROVED, Finding


def last(text: str) -> Finding:
    """The finding on the last formula of a text."""
    return check_text(text)[-1]


@pytest.mark.parametrize(
    ("text", "method"),
    [
        (r"Let $n$ be an integer. Then $\lfloor\frac{n+1}2\rfloor=\lceil\frac n2\rceil$.", "every residue class"),
        (r"Let $n$ be odd. Then $\lfloor\frac n2\rfloor=\frac{n-1}2$.", "every residue class"),
        (r"For real $x$, $\lfloor x\rfloor+\lfloor x+\frac12\rfloor=\lfloor2x\rfloor$.", "every range of the fractional part"),
        (r"For real $x$, $\lfloor-x\rfloor=-\lceil x\rceil$.", "every range of the fractional part"),
        (r"Let $n$ be a positive integer. Then $\lfloor\sqrt{n^2+n}\rfloor=n$.", "bounds of integer parts"),
        (r"Let $x,y$ be reals. Then $\max(x,y)+\min(x,y)=x+y$.", "every case of signs"),
        (r"Let $k,n$ be integers with $1\le k\le n$. Then $k\binom nk=n\binom{n-1}{k-1}$.", "expansion"),
        (r"Let $n$ be a nonnegative integer. Then $\binom{2n}n\ge\frac{4^n}{2n+1}$.", "induction"),
        (r"Let $n$ be a positive integer. Then $\sum_{k=0}^n\binom nk=2^n$.", "induction"),
        (r"Let $n$ be a positive integer. Then $\sum_{k=0}^n(-1)^k\binom nk=0$.", "closed forms of sums"),
        (r"Let $n$ be a positive integer. Then $1^3+2^3+\dots+n^3=(1+2+\dots+n)^2$.", "closed forms of sums"),
        (r"Let $n$ be a positive integer. Then $\sum_{k=1}^n\frac1{\sqrt k+\sqrt{k+1}}=\sqrt{n+1}-1$.", "induction"),
        (r"Let $n$ be an integer. Then $\gcd(5n+3,3n+2)=1$.", "a whole combination"),
        (r"Let $n$ be odd. Then $\gcd(n,n+1)=1$.", "a whole combination"),
        (r"Let $a,b$ be positive integers. Then $\gcd(a,b)\cdot\operatorname{lcm}(a,b)=ab$.", "a theorem"),
        (r"Let $n$ be a positive integer and $x\ge-1$ a real number. Then $(1+x)^n\ge1+nx$.", "induction"),
        (r"Let $a,b$ be integers. Then $a-b\mid a^n-b^n$.", "induction"),
        (r"Let $p$ be a prime. Then $(p-1)!\equiv-1\pmod p$.", "a theorem"),
        (r"Let $p$ be a prime. Then $a^p\equiv a\pmod p$.", "a theorem"),
        (r"Let $p>2$ be a prime. Then $2^{p-1}\equiv1\pmod p$.", "a theorem"),
        (r"Let $x,y$ be positive reals. Then $\ln(xy)=\ln x+\ln y$.", "expansion"),
        (r"We have $\cos\frac{\pi}{5}-\cos\frac{2\pi}{5}=\frac12$.", "expansion"),
    ],
)
def test_a_true_formula_is_proved(text: str, method: str) -> None:
    finding = last(text)
    assert finding.outcome == PROVED
    assert finding.certificate is not None
    assert (finding.certificate.method, bool(finding.certificate.steps)) == (method, True)


@pytest.mark.parametrize(
    "text",
    [
        r"Let $n$ be an integer. Then $\lfloor\frac{n+1}2\rfloor=\lfloor\frac n2\rfloor$.",
        r"Let $n$ be an integer. Then $\lfloor\frac n2\rfloor=\frac{n-1}2$.",
        r"For real $x$, $\lfloor x\rfloor+\lfloor x+\frac13\rfloor=\lfloor2x\rfloor$.",
        r"For real $x$, $\lfloor-x\rfloor=-\lfloor x\rfloor$.",
        r"For real $x$, $\lfloor x\rfloor<x$.",
        r"Let $n$ be a positive integer. Then $\lfloor\sqrt{n^2+2n+1}\rfloor=n$.",
        r"Let $n$ be an integer. Then $\lfloor\sqrt{n^2}\rfloor=n$.",
        r"Let $x,y$ be reals. Then $\max(x,y)-\min(x,y)=x-y$.",
        r"Let $x,y$ be reals. Then $|x+y|=|x|+|y|$.",
        r"Let $k,n$ be integers. Then $k\binom nk=n\binom{n-1}{k-1}$.",
        r"Let $k,n$ be integers with $1\le k\le n$. Then $\binom nk=\binom{n}{k-1}$.",
        r"Let $n$ be a nonnegative integer. Then $\sum_{k=0}^n(-1)^k\binom nk=0$.",
        r"Let $n$ be a positive integer. Then $\sum_{k=1}^n\binom nk=2^n$.",
        r"Let $n$ be an integer. Then $\gcd(5n+3,3n+1)=1$.",
        r"Let $a,b$ be integers. Then $\gcd(a,b)\cdot\operatorname{lcm}(a,b)=ab$.",
        r"Let $n$ be a positive integer and $x$ a real number. Then $(1+x)^n\ge1+nx$.",
        r"Let $a,b$ be integers. Then $a+b\mid a^n+b^n$.",
        r"Let $p$ be an integer. Then $(p-1)!\equiv-1\pmod p$.",
        r"Let $p$ be a prime. Then $2^{p-1}\equiv1\pmod p$.",
        r"Let $p$ be a prime. Then $a^{p-1}\equiv1\pmod p$.",
        r"Let $x,y$ be reals. Then $\ln(x^2y^2)=2\ln x+2\ln y$.",
        r"Let $x$ be real. Then $\sqrt[3]{x}+x\ge x$.",
    ],
)
def test_a_false_one_is_not(text: str) -> None:
    assert PROVED not in {finding.outcome for finding in check_text(text)}
