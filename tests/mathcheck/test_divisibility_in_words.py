"""Divisibility stated in words is tested like a formula, and only where it is asserted."""

import pytest

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import PROVED, REFUTED, SURVIVED


def outcomes(text: str) -> list[str]:
    return [finding.outcome for finding in check_text(text)]


@pytest.mark.parametrize(
    ("true", "false"),
    [
        (
            "For every positive integer $n$, $n^3-n$ is divisible by $6$.",
            "For every positive integer $n$, $n^3-n+1$ is divisible by $6$.",
        ),
        (
            "Clearly, $n^3-n$ is a multiple of $6$ for all integers $n$.",
            "Clearly, $n^3-n$ is a multiple of $12$ for all integers $n$.",
        ),
        (
            "Let $n$ be a positive integer. Then $n^2+n$ is divisible by 2.",
            "Let $n$ be a positive integer. Then $n^2+n$ is divisible by 4.",
        ),
        (
            "For all positive integers $a$, $b$, $a^3-b^3$ is divisible by $a+b-2b$.",
            "For all positive integers $a$, $b$, $a^3+b^3$ is divisible by $a+b+1$.",
        ),
    ],
)
def test_expressions_are_tested(true: str, false: str) -> None:
    assert outcomes(true) in ([PROVED], [SURVIVED])
    (finding,) = check_text(false)
    assert (finding.outcome, finding.kind) == (REFUTED, "divisibility")
    assert finding.anchor.quote.startswith("$")
    assert finding.anchor.quote == false[finding.anchor.start : finding.anchor.end]


@pytest.mark.parametrize(
    "text",
    [
        "Let $n$ be a positive integer. One of $n-1$, $n+1$ is divisible by $2$.",
        "Let $n$ be a positive integer. The product of $n$ and $n+1$ is divisible by $2$.",
        "Let $n$ be a positive integer such that $n^2+1$ is divisible by $5$.",
        "If $n^2+1$ is divisible by $5$, then we are done.",
        "Let $n$ be a positive integer. We show that $n^2+1$ is divisible by $5$ or $7$.",
        "Let $n$ be a positive integer. Then $n^2+2$ is divisible by $3$ unless $3$ divides $n$.",
        "Let $n$ be a positive integer. The number $n$ is divisible by $6$.",
        "Let $n$ be a positive integer. Suppose that $n^2+2$ is divisible by $7$.",
        "Let $n$ be a positive integer. It is false that $n^2+2$ is divisible by $7$.",
    ],
)
def test_a_statement_that_is_not_asserted_is_not_refuted(text: str) -> None:
    assert REFUTED not in outcomes(text)
