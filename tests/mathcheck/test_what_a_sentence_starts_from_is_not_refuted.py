"""A relation that a sentence starts from is a condition of its conclusion, also where the words come after it."""

import pytest

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import PROVED, REFUTED


@pytest.mark.parametrize(
    "text",
    [
        r"Let $m,k$ be integers. Then $m^2+k^2<2$ implies $mk=0$.",
        r"For $c\in\mathbb Z$, $15\mid 7c$ implies $5\mid c+5$.",
        r"Let $v$ be a real number. Then $v^3<7v-90$ implies $v<0$.",
        r"Let $h$ be a real number. Then $h^2<5h$ yields $h>0$.",
        r"Let $h$ be a real number. Then $h^2<5h \Rightarrow h>0$.",
        r"For all real numbers $u,v$, $u+v>10$ gives $u^2+v^2>50$.",
        r"Let $h$ be a real number. Then $h>0$ follows from $h^2<5h$.",
        r"Assume $a,b$ are integers and $7\mid 3a+b$. Then $7\mid 6a+2b$.",
        r"Given that $u$ is a real number and $u^2+u<6$, we obtain $(u+3)(u-2)<0$.",
        r"Assume $r$ is a negative real and $r^2=7$. Then $r^4=49$.",
        r"If $m$ is an integer and $m^2<50$, then $3m\le21$.",
        r"Let $p$ be a prime where $p$ is odd and $p\mid 2p+15$. Then $p\mid 15$.",
        r"From $|z-9|<4$, where $z$ is a rational number, we get $5<z$.",
        r"From $3^m=5^k-2$ for positive integers $m,k$ we obtain $3^m+2=5^k$.",
        r"Let $y$ be a real number. From $y^3=5$ we get $y^6=25$.",
        r"Using $y^2=3$ where $y$ is a positive real, we obtain $y^4=9$.",
        r"Since $y^2=3$ where $y$ is a positive real, we obtain $y^4=9$.",
    ],
)
def test_nothing_is_refuted_where_the_whole_is_true(text: str) -> None:
    assert [finding.anchor.quote for finding in check_text(text) if finding.outcome == REFUTED] == []


@pytest.mark.parametrize(
    "text",
    [
        r"Let $v$ be a real number. Then $v^2<7$ and $v<0$.",
        r"Let $n$ be an integer. Then $n^2\ge n+1$.",
        r"Let $a,b$ be positive reals. Using AM-GM, $a+b\ge 3\sqrt{ab}$.",
        r"Since $(a+b)^2=a^2+ab+b^2$ for all real $a,b$, we are done.",
    ],
)
def test_slips_in_claims_are_still_refuted(text: str) -> None:
    assert REFUTED in {finding.outcome for finding in check_text(text)}


def test_a_hypothesis_is_never_proved_by_itself() -> None:
    found = check_text(r"Let $h$ be a real number. Then $h^2<5h$ yields $h>0$.")
    assert found[0].outcome != PROVED
