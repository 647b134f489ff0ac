r"""Formulas are proved by exact methods, each with a certificate; near them are formulas that must not be proved."""

import pytest
from sympy import QQ
from sympy.polys.rings import ring

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import PROVED, Finding
from apps.mathcheck.proving.solver import cannot_fail


def last(text: str) -> Finding:
    """The finding on the last formula of a text."""
    return check_text(text)[-1]


@pytest.mark.parametrize(
    ("text", "method"),
    [
        ("We have $2^{10}-24=1000$.", "exact arithmetic"),
        (r"We have $\sqrt2+\sqrt3<3.2$.", "interval arithmetic"),
        (r"We have $\sqrt8=2\sqrt2$.", "expansion"),
        ("For all reals $a,b$, $(a+b)^3=a^3+3a^2b+3ab^2+b^3$.", "expansion"),
        (r"We have $\frac1n-\frac1{n+1}=\frac1{n(n+1)}$.", "expansion"),
        (r"For real $x$, $\cos2x=1-2\sin^2x$.", "expansion"),
        (r"Let $n$ be a positive integer. Then $(n+1)!-n!=n\cdot n!$.", "expansion"),
        ("Let $a+b=4$ and $ab=3$. Then $a^2+b^2=10$.", "expansion under stated equations"),
        (r"Let $x\ge0$. Then $\sqrt{x^2}=x$.", "Z3"),
        ("Let $n$ be an integer. Then $n^3-n$ is divisible by $6$.", "every residue"),
        (r"Let $p>3$ be prime. Then $p^2\equiv1\pmod{24}$.", "every residue"),
        ("We see that $3^{2n}-1$ is divisible by $8$.", "every residue"),
        (r"Let $a$ and $b$ be integers. Then $a-b\mid a^3-b^3$.", "division of polynomials"),
        (r"Let $n$ be an integer with $1\le n\le 40$. Then $n^2-n+41\ne 1682$.", "signs of a polynomial"),
        (r"Let $n$ be an integer with $0\le n\le 6$. Then $2^n<n^2+30$.", "every case"),
        (r"Let $n$ be a positive integer. Then $1+2+\dots+n=\frac{n(n+1)}2$.", "induction"),
        (r"Let $n$ be a positive integer. Then $\sum_{k=1}^n\frac1{k^2}\le2-\frac1n$.", "induction"),
        (r"Let $n\ge5$ be an integer. Then $2^n>n^2$.", "induction"),
        (r"Let $a,b,c$ be reals. Then $a^2+b^2+c^2\ge ab+bc+ca$.", "signs of a polynomial"),
        (r"Let $0<x<1$. Then $x^2<x$.", "signs of a polynomial"),
        (r"Let $a,b,c>0$ with $a+b+c=1$. Then $ab+bc+ca\le\frac13$.", "Z3"),
        (r"For positive reals $a,b,c$ we have $\frac a{b+c}+\frac b{c+a}+\frac c{a+b}\ge\frac32$.", "Z3"),
        (r"Let $a,b\ge0$. Then $a+b\ge2\sqrt{ab}$.", "Z3"),
        ("Here $91$ is composite.", "exact arithmetic"),
    ],
)
def test_a_true_formula_is_proved(text: str, method: str) -> None:
    finding = last(text)
    assert finding.outcome == PROVED
    assert finding.certificate is not None
    assert finding.certificate.method == method
    assert finding.certificate.steps


@pytest.mark.parametrize(
    "text",
    [
        r"Let $x$ be real. Then $x^2-x+1\ge1$.",
        r"Let x be real. Then $x^2-x+1\ge1$.",
        r"Let $x$ be real. Then $\sqrt{x^2}=x$.",
        r"Let $x$ be real. Then $\frac{x^2}x=x$.",
        r"Let $x$ be real. Then $(\sqrt x)^2=x$.",
        r"Let $a,b$ be reals. Then $\frac ab+\frac ba\ge2$.",
        r"Let $a,b$ be positive reals. Then $a+b>2\sqrt{ab}$.",
        r"Let $p$ be prime. Then $p^2\equiv1\pmod{8}$.",
        r"Let $n$ be a positive integer. Then $2^n\ge n^2$.",
        r"Let $n$ be a positive integer. Then $n^2+n+41\ne 1681$.",
        r"Let $n$ be an integer. Then $n^4-n$ is divisible by $2\cdot3$.",
        r"Let $n$ be a positive integer. Then $\sum_{k=1}^n k=\frac{n(n+1)}2+(n-1)(n-2)(n-3)$.",
        r"Let $a,b,c>0$ with $a+b+c=1$. Then $ab+bc+ca\le\frac{32}{100}$.",
        r"Let $m$ and $n$ be positive integers. Then $2^{m-n}$ is divisible by $1$.",
        r"Let $a,b$ be reals with $a^2+b^2=-1$. Then $a=b+1$.",
    ],
)
def test_a_false_one_is_not(text: str) -> None:
    assert PROVED not in {finding.outcome for finding in check_text(text)}


def test_a_certificate_says_what_it_assumes_and_where_it_holds() -> None:
    finding = last("Let $a+b=4$ and $ab=3$. Then $a^2+b^2=10$.")
    assert finding.certificate is not None
    assert {"a + b = 4", "a*b = 3"} <= set(finding.certificate.assumptions)
    finding = last("We have $(-1)^{n+2}=(-1)^n$.")
    assert finding.certificate is not None
    assert "n whole" in finding.certificate.assumptions
    finding = last(r"We have $\frac{x^2}x=x$.")
    assert finding.certificate is not None
    assert finding.certificate.where == "x ≠ 0"


def test_a_sum_of_squares_can_be_checked_by_hand() -> None:
    finding = last(r"Let $a,b$ be reals. Then $a^2+ab+b^2\ge0$.")
    assert finding.certificate is not None
    assert finding.certificate.steps == ("a^2 + a*b + b^2 ≥ 0", "= 1/4*(a + 2*b)^2 + 3/4*(a)^2")


def test_conditions_that_cannot_hold_together_prove_nothing() -> None:
    text = r"Let $n$ be an integer with $n>3$ and $n<2$. Then $n^2=7$."
    assert last(text).outcome != PROVED


def test_the_solver_is_not_asked_about_high_degrees() -> None:
    """Z3 works for minutes on this one, whatever its limit."""
    ring_, a, b, c = ring("a,b,c", QQ)
    one = a**3 * (b + c) + b**3 * (c + a)
    wanted = one * a**4 * b**2 * c**2 - 3 * a**5 * b**4 * c**3 + 2 * b**4 * c**4
    conditions = [(a * b * c - 1, "="), (a, ">"), (b, ">"), (c, ">")]
    names = [str(symbol) for symbol in ring_.symbols]
    assert not cannot_fail((wanted, r"\ge"), conditions, names, dict.fromkeys(names, False))
    assert cannot_fail((a**2 + b**2 - 2 * a * b, r"\ge"), conditions, names, dict.fromkeys(names, False))


@pytest.mark.parametrize(
    "text",
    [
        "Let $x>2$. Hence $x>2$.",
        r"Let $a,b$ be reals with $a^2+b^2\ge5$. Then $5\le b^2+a^2$.",
        r"Let $a,b$ be integers with $3\mid a+b$. Thus $3\mid a+b$.",
    ],
)
def test_a_premise_that_is_repeated_is_shown_as_stated_before(text: str) -> None:
    finding = last(text)
    assert finding.certificate is not None
    assert finding.certificate.method == "stated before as a condition"


def test_an_induction_does_not_list_its_hypothesis_among_its_assumptions() -> None:
    certificate = last(r"Let $n$ be a positive integer. Then $\sum_{k=1}^n k\cdot k!=(n+1)!-1$.").certificate
    assert certificate is not None
    assert certificate.assumptions == ("n whole, at least 1",)


def test_a_binomial_coefficient_needs_a_whole_number_that_is_not_negative() -> None:
    certificate = last(r"We have $\binom n2=\frac{n(n-1)}2$.").certificate
    assert certificate is not None
    assert (certificate.assumptions, certificate.where) == (("n whole",), "n ≥ 0")
    for domain in ("an integer", "a real number"):
        assert last(rf"Let $n$ be {domain}. Then $\binom n2=\frac{{n(n-1)}}2$.").outcome != PROVED
    assert last(r"Let $n\ge0$ be an integer. Then $\binom{n+1}2=\frac{n(n+1)}2$.").outcome == PROVED


def test_the_lines_of_a_step_have_no_colon_before_a_semicolon() -> None:
    texts = (
        r"Let $n$ be a positive integer. Then $\sum_{k=1}^n\frac1{k^2}\le2-\frac1n$.",
        r"Let $n\ge5$ be an integer. Then $2^n>n^2$.",
    )
    certificates = [last(text).certificate for text in texts]
    assert not any(":;" in step for one in certificates if one is not None for step in one.steps)
