"""Definitions, hypotheses, denials, goals and equations for unknowns are never refuted."""

import pytest

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import REFUTED


def refuted(text: str, *assumptions: str) -> list[str]:
    return [finding.anchor.quote for finding in check_text(text, assumptions) if finding.outcome == REFUTED]


@pytest.mark.parametrize(
    "text",
    [
        r"Suppose for contradiction that $\frac12+\frac13=1$.",
        r"We want to show that $(a+b)^2=a^2+b^2$.",
        r"It is false that $(a+b)^2=a^2+b^2$ for all real $a,b$.",
        r"We cannot have $2+2=5$.",
        r"Is it true that $2+2=5$?",
        r"Then $3+1=0$. This is impossible.",
        r"If $x=3$, then $2\cdot 3+1=8$.",
        r"Then $1+2=4$, which contradicts the choice of $n$.",
        r"Working modulo $4$, we get $3+1=0$.",
        r"The equation $x^2+2x+1=x^2+3x$ has the root $1$.",
        r"Let $x$ satisfy $(x+1)^2=3x+1$.",
        r"Adding both equations we obtain $(x+y)^2=25$.",
        r"Symmetry gives $(s-a)(a+c)=(s-b)(b+c)$.",
        r"Here $\sqrt2=1.414$ is good enough.",
        r"We take $f(1)=2$ and $f(2)=f(1)+f(1)=5$.",
        r"The product is $16\cdot 9=1,44$.",
        r"Therefore $n\mid 12$ and $x>y$.",
        r"In characteristic $2$ we have $(a+b)^2=a^2+b^2$.",
        r"In base $7$ we have $3+4=10$.",
        r"Every number from $1$ to $n$ is used once, so $\sum_{k=1}^n k=7n$.",
        r"Then $\log 100=2$.",
        r"For every positive integer $n$ which is even, $4\mid n^2$.",
        r"By AM-GM, $x+y\ge 2$ since $xy=1$.",
        r"Because $\omega$ is a primitive cube root of unity, $(1+\omega)^2=\omega$.",
        r"Let $f(x)=x^2$ for $x\ge 0$ and $f(x)=-x$ for $x<0$. Then $f(-2)=2$.",
        r"We have $\sqrt{(x-1)^2}=1-x$ since $x<1$.",
    ],
)
def test_a_statement_not_asserted_for_all_values_is_not_refuted(text: str) -> None:
    assert refuted(text) == []


@pytest.mark.parametrize(
    "text",
    [
        r"We have $\frac12+\frac13=1$.",
        r"Clearly $(a+b)^2=a^2+b^2$.",
        r"Then $2\cdot 3+1=8$.",
        r"Then $16\cdot 9=145$, and the claim follows.",
    ],
)
def test_the_same_statement_asserted_plainly_is_refuted(text: str) -> None:
    assert len(refuted(text)) == 1


def test_a_condition_of_the_text_restricts_the_test_points() -> None:
    assert refuted(r"Let $a+b+c=0$. Then $a^3+b^3+c^3=3abc$.") == []
    assert refuted(r"Let $a,b>0$ be real numbers with $a+b=1$. Then $(a+b)^2=a^2+2ab+b^2+ab$.") != []


def test_an_assumption_from_outside_restricts_the_test_points() -> None:
    text = r"For all positive integers $n$ we get $2^n>n^2$."
    assert refuted(text) == ["2^n>n^2"]
    assert refuted(text, "n > 4") == []


@pytest.mark.parametrize(
    ("assumption", "holds", "fails"),
    [
        ("positive integers a, b", r"Then $a+b\ge 2$.", r"Then $a+b\ge 3$."),
        ("x > 0 is real", r"Then $x+\frac1x\ge2$.", r"Then $x+\frac1x\ge3$."),
        ("n odd", r"Then $n^2\equiv1\pmod8$.", r"Then $n^2\equiv1\pmod{16}$."),
        ("let p be prime", r"Then $p\ge2$ and $p^2\ge 4$.", r"Then $p^2\ge 5$."),
        ("a, b, c are the sides of a triangle", r"Then $a+b-c>0$.", r"Then $a+b-c>1$."),
    ],
)
def test_assumptions_in_words_are_read(assumption: str, holds: str, fails: str) -> None:
    assert refuted(holds, assumption) == []
    assert len(refuted(fails, assumption)) == 1


def test_a_name_that_is_defined_twice_refutes_nothing() -> None:
    once = r"Let $s=a+b$. Then $s^2=a^2+b^2$."
    assert len(refuted(once)) == 1
    assert refuted(once + r" Now let $s=a-b$. Then $s^2=a^2+b^2+2ab$.") == ["s^2=a^2+b^2"]
