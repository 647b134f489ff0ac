"""Texts that a reader wrote to mislead the verifier, each with a wrong outcome at first.

True ones are not refuted, false ones not proved.
"""

import pytest

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import PROVED, REFUTED

TRUE = r"""
Let $m$ be an integer. As $m$ and $3$ are coprime, $3\mid m^2-1$.
Let $m$ be an integer. Three does not divide $m$. So $3\mid m^2-1$.
Let $x$ be a real number. The discriminant of the quadratic is nonnegative, which gives $x\ge 2$.
Let $n$ be a positive integer. By Lemma 2, $n$ is squarefree. Hence $4\nmid n$.
Let $n$ be a positive integer. We know that $n$ is a square. Hence $n\not\equiv 2\pmod 4$.
Let $n$ be a positive integer. The previous part shows that $n$ leaves remainder one modulo three. Hence $3\mid n-1$.
Let $n$ be a positive integer. Since $n$ exceeds seven, we have $n^2>50$.
Let $d$ be a positive integer. It divides $n+1$ and $n$. Therefore $d\mid 1$, so $d\le1$.
Let $p$ be a prime. We already know that $p$ divides six. Thus $p\le 3$.
Let $n$ be an integer. Our $n$ turned out divisible by three. Hence $3\mid n$ and $9\mid n^2$.
Let $n$ be a positive integer. The digits of $n$ add up to nine. Hence $9\mid n$.
Let $a$ and $b$ be positive integers. The fraction is in lowest terms. Hence $\gcd(a,b)=1$.
Let $a,b,c$ be positive real numbers. We draw a triangle with these sides. Hence $a+b>c$.
Let $a$ and $b$ be positive reals. By symmetry we order them increasingly. Then $a\le b$ and $2a\le a+b$.
Let $p$ be a prime number. The prime two was handled before. Hence $8\mid p^2-1$.
Let $n$ be a positive integer. From five onwards, $2^n>n^2$.
Let $x$ be a real number. On the positive axis we have $x+\frac1x\ge2$.
Let $x$ be a real number. As computed above, $x$ lies strictly inside the unit interval. Hence $x^2<x$.
Let $n$ be an integer. Among odd numbers we have $8\mid n^2-1$.
Let $n$ be an integer. The even ones are trivial. The odd ones give $8\mid n^2-1$.
Let $a,b,c$ be real numbers. The matrix is positive definite. Thus $ac>b^2$.
Let $r$ and $R$ be real numbers. Euler's inequality states $R\ge 2r$.
Let $n$ be a positive integer. Dominoes tile the $n\times n$ board. Thus $2\mid n^2$.
Let $p$ be a prime. We discard two and three. Hence $24\mid p^2-1$.
Let $n$ be a positive integer. The induction starts at five. We get $2^n>n^2$.
Let $a,b,c$ be real numbers. The quadratic has no real zero. Thus $b^2<4ac$.
Let $x$ and $y$ be positive reals. By the first inequality, $xy\ge 1$. So $x+y\ge 2$.
Let $n$ be an integer. If $n$ is even, then $4\mid n^2$, and if $n$ is odd, then $8\mid n^2-1$.
Let $n$ be an integer. When $n$ is odd we have $n^2\equiv1\pmod 4$ and when $n$ is even we have $n^2\equiv0\pmod4$.
For odd $n$ we have $8\mid n^2-1$, for even $n$ we have $4\mid n^2$.
Let $x$ be real. If $x$ is positive, then $x^3>0$, and if $x$ is negative, then $x^3<0$.
Let $p$ be a prime. If $p$ is odd, then $2\mid p-1$, and if $p$ is even, then $p=2$.
Let $a=b+1$. Then $a^2-b^2=2b+1$. In the other case $a=b-1$ we obtain $a^2-b^2=-2b+1$.
Let $n$ be an integer. If $n$ is odd, then $8\mid n^2-1$, while for even $n$ we have $4\mid n^2$.
Put $x=y+1$. Then $x^2=y^2+2y+1$. For $x=y-1$ we get $x^2=y^2-2y+1$.
If $n=3k$, then $n^2\equiv0\pmod 3$. If $n=3k+1$ or $n=3k+2$, then $n^2\equiv1\pmod3$.
Let $n=2k$. Then $4\mid n^2$. For $n=2k+1$ we get $4\mid n^2-1$.
Let $n=2k$. Then $n^2=4k^2$. When $n=2k+1$, we get $n^2=4k^2+4k+1$.
"""
FALSE = r"""
Let $m$ and $n$ be positive integers with $n=m^2$. Then $\left(1+\frac1{100000}\right)^n\le 2+(n-m^2)^2$.
Let $k$ be a positive integer, and let $n$ be a positive integer with $n=10^k$. Then $1.0001^n\le 10+(n-10^k)^2\cdot 10$.
Let $a_1=1$ and $a_{n+1}=2a_n$ for $n\ge 5$. Then $a_n=2^{n-1}$ for all positive integers $n$.
Let $a_1=1$ and $a_{n+1}=a_n+2$ for $n\ge 3$. Then $a_n=2n-1$.
Let $a_1=1$ and $a_{n+1}=2a_n$ for $n\le 5$. Then $a_n=2^{n-1}$ for all $n\ge1$.
Define $a_1=1$, and let $a_{n+1}=2a_n$ hold for $1\le n<10$. Then $a_n=2^{n-1}$ for all $n\geq 1$.
Let $a_1=2$ and $a_{n+1}=a_n^2$ for $n=1,2,3$. Then $a_{10}=2^{512}$.
Let $n=2k$ be even. Then $2\mid n$. If $n=2k+1$, then $2\mid n$.
Let $n=2k$ with $k$ an integer. Then $2\mid n$. For $n=2k+1$ we get $2\mid n$.
If $n=2k$ then $4\mid n^2$; if $n=2k+1$ then $4\mid n^2$.
If $n=3k+1$, then $3\mid n^2-1$, and if $n=3k$, then $3\mid n^2-1$.
Let $n=3k+1$. Then $3\mid n-1$. In the second case $n=3k+2$ we get $3\mid n-1$.
Write $n=3k+1$ with an integer $k$. Then $n^2=9k^2+6k+1$. For $n=3k+2$ we have $n^2=9k^2+6k+1$.
Let $p$ be an odd prime. Then $2\mid p-1$. If $p=2$, then $2\mid p-1$.
Let $p$ be an odd prime. Then $8\mid p^2-1$. For $p=2$ also $8\mid p^2-1$.
Let $x>1$. Then $\frac1{x-1}>0$. When $x<1$ we find $\frac1{x-1}>0$.
Let $x\in(0,1)$. Then $x^2<x$. At the end point $x=1$ we have $x^2<x$.
Let $n\ge5$ be an integer. Then $2^n>n^2$. For $n\ge1$ we have $2^n>n^2$.
Let $n>1$ be an integer. Then $n^2>n$. So $n^2>n$ holds for all integers.
Let $a\ge b\ge 0$. Then $a^2\ge b^2$. If $a\ge b$, then $a^2\ge b^2$.
Let $a>0$. Then $a+\frac1a\ge2$. More generally $a+\frac1a\ge2$ whenever $a\ne0$.
Let $n$ be an integer. Suppose $n$ is even. Then $2\mid n$. Both possibilities have been treated, and so $2\mid n$.
Assume $n$ is an even integer. Then $4\mid n^2$. For arbitrary integers the same argument gives $4\mid n^2$.
Let $x\ge0$ at first. Here $|x|=x$. Later $x<0$. There $|x|=x$ too.
Let $x\ne1$. Then $\frac{x^2-1}{x-1}=x+1$. For $x=1$ too we have $\frac{x^2-1}{x-1}=x+1$.
Let $a,b>0$. Then $ab>0$. Replace $b$ by $-b$. Then $ab>0$.
Let $x^2=9$ and $x>0$. Then $x^3=27$. Now drop the assumption on the sign. Still $x^3=27$.
For natural numbers $n\ge 0$ we have $n+1\ge2$.
Let $n$ be a natural number, possibly zero. Then $2^n\ge2$.
Let $n\in\mathbb N$, where $0\in\mathbb N$. Then $2^n\ge2$.
Let $n$ be a natural number. Then $2^n\ge 2$.
Suppose $f(1)=1,\ldots,f(k)=k$. Then $f(k+1)\ge k$.
"""


def _lines(texts: str) -> list[str]:
    return [line for line in texts.splitlines() if line]


@pytest.mark.parametrize("text", _lines(TRUE))
def test_a_true_text_is_not_refuted(text: str) -> None:
    assert [finding.anchor.quote for finding in check_text(text) if finding.outcome == REFUTED] == []


@pytest.mark.parametrize("text", _lines(FALSE))
def test_the_last_claim_of_a_false_text_is_not_proved(text: str) -> None:
    at_the_end = [finding for finding in check_text(text) if finding.anchor.end > len(text) - 25]
    assert PROVED not in [finding.outcome for finding in at_the_end]
