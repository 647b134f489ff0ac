"""Terms of a sequence that the text gives by first values and a recurrence are computed, tested, and proved by induction."""

import pytest

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import NOT_UNDERSTOOD, PROVED, REFUTED, SURVIVED, Finding

FIBONACCI = "Define the Fibonacci numbers by $F_1=F_2=1$ and $F_{n+1}=F_n+F_{n-1}$. "


def last(text: str) -> Finding:
    return check_text(text)[-1]


@pytest.mark.parametrize(
    "text",
    [
        "Let $a_1=1$ and $a_{n+1}=2a_n+1$. It follows that $a_n=2^n-1$ for all positive integers $n$.",
        r"Let $a_0=2$, $a_1=5$ and $a_{n+1}=5a_n-6a_{n-1}$ for $n\ge1$. Hence $a_n=2^n+3^n$.",
        r"Let $a_1=1$ and $a_{n+1}=\frac{a_n}{1+a_n}$ for $n\ge1$. So $a_n=\frac1n$ for each $n\ge1$.",
        r"Let $f(1)=4$ and $f(n+1)=f(n)+3$ for all $n\ge1$. So $f(n)=3n+1$.",
        FIBONACCI + r"For $n\ge2$, $F_{n-1}F_{n+1}-F_n^2=(-1)^n$.",
        FIBONACCI + r"Then $F_5+F_6=13$.",
    ],
)
def test_a_claim_about_terms_is_proved(text: str) -> None:
    finding = last(text)
    assert finding.outcome == PROVED
    assert finding.certificate is not None
    assert any("(n + 1) = " in one for one in (*finding.certificate.assumptions, *finding.certificate.steps))


@pytest.mark.parametrize(
    ("text", "values", "left", "right"),
    [
        ("Let $a_1=1$ and $a_{n+1}=2a_n+1$. Hence $a_n=2^n$.", {"n": "1"}, "1", "2"),
        (FIBONACCI + "Then $F_5+F_6=14$.", {}, "13", "14"),
    ],
)
def test_a_false_one_is_refuted_by_its_terms(text: str, values: dict[str, str], left: str, right: str) -> None:
    finding = last(text)
    assert finding.outcome == REFUTED
    assert finding.counterexample is not None
    assert (finding.counterexample.values, finding.counterexample.left, finding.counterexample.right) == (values, left, right)


def test_what_no_induction_shows_survives() -> None:
    finding = last(r"Let $a_1=1$ and $a_{n+1}=a_n+2n+1$ for $n\ge1$. Hence $a_n\ne2n+4$ for all $n\ge1$.")
    assert (finding.outcome, finding.tried) == (SURVIVED, "n from 1 to 40, by the recurrence")


@pytest.mark.parametrize(
    "text",
    [
        r"Let $x_1=2$ and $x_{n+1}=\frac1{1-x_n}$. Hence $x_{n+3}=x_n$ for all $n\ge1$.",
        "Let $F_1=F_2=1$ and $F_{n+2}=F_{n+1}+F_n$ for $n\\ge1$. Then $2\\mid F_{3k}$ for each positive integer $k$.",
    ],
)
def test_a_sequence_that_repeats_is_computed_for_one_period(text: str) -> None:
    finding = last(text)
    assert finding.outcome == PROVED
    assert finding.certificate is not None
    assert finding.certificate.method == "the period of a sequence"


@pytest.mark.parametrize(
    "text",
    [
        r"Let $x_1=2$ and $x_{n+1}=\frac1{1-x_n}$. Hence $x_{n+1}\ne x_n-3$ for all $n\ge1$.",
        "Let $F_1=F_2=1$ and $F_{n+2}=F_{n+1}+F_n$ for $n\\ge1$. Then $3\\mid F_{3k}$ for each positive integer $k$.",
        "Let $a_1=1$ and $a_{n+1}=a_n+n$ for $n\\ge1$. Then $2\\mid a_{4k}$ for each positive integer $k$.",
    ],
)
def test_what_fails_within_the_period_is_not_proved(text: str) -> None:
    assert last(text).outcome != PROVED


@pytest.mark.parametrize(
    "text",
    [
        "Let $a_1=1$ and $a_{n+1}=2a_n+1$. Hence $a_n=n^2-n+1$ for some $n$.",
        "Let $a_1=7$, and $a_{n+1}=3a_n+1$ if $a_n$ is odd. Then $a_n=7n$.",
        "Let $a_{n+1}=2a_n+1$. Hence $a_n=2^n-1$.",
        "Let $a_1=1$, $a_2=5$ and $a_{n+1}=2a_n+1$. Hence $a_n=2^n-1$.",
    ],
)
def test_true_for_some_terms_or_not_determined_is_not_understood(text: str) -> None:
    assert last(text).outcome == NOT_UNDERSTOOD
