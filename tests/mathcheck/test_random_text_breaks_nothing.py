"""Random formulas, and random text that looks like TeX: every check ends with findings. `benchmarks fuzz` checks 100,000."""

from collections import Counter

import pytest

from apps.mathcheck.findings import Finding
from benchmarks.mathcheck import fuzz


@pytest.mark.parametrize(
    ("kind", "inputs"), [(fuzz._noise, 2_500), (fuzz._damaged, 250), (fuzz._sentence, 80), (fuzz._extreme, 40)]
)
def test_no_input_breaks_the_check(kind: fuzz.Maker, inputs: int) -> None:
    found = fuzz.fuzzed(inputs, seed=7, kinds=[kind])
    assert found.failed == []
    assert found.slowest < fuzz.SLOWEST_S


FOUND = (  # By 100,000 inputs on 2026-11-28.
    r"For all reals $x,a$, $\sqrt{n} \ne (\sqrt[3]{2\cdot n})^{1/2}$.",
    r"Suppose that $a+b=3$ and $ab=1$. If $x>1$, then $\gcd(a,0) = 2$.",
    r"Suppose that $a+b=3$ and $ab=1$. It follows that $((p)^{100})^{10} \ne \left|0\right|$.",
    r"Let $f(x)=x^2-1$ and $a_1=1$, $a_{n+1}=2a_n+1$. Hence $({\binom{1}{3}}^{3})^{n} < a_n$.",
    r"Let $f(x)=x^2-1$ and $a_1=1$, $a_{n+1}=2a_n+1$. Then ${\max(a_n,n)}^{1+2+\dots+n} \equiv 3 \pmod{3}$.",
    r"We have $\frac{3}{\pi} \le \sum_{j=2}^{\gcd(1+2+\dots+n,2)} (\sqrt[3]{10}+j)$.",
)


@pytest.mark.parametrize("text", FOUND)
def test_what_broke_the_check_once_breaks_it_no_more(text: str) -> None:
    assert fuzz.fuzzed(1, seed=1, kinds=[lambda _: text]).failed == []


def test_the_fuzz_notices_what_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> list[Finding]:
        raise IndexError(text)

    monkeypatch.setattr(fuzz, "check_text", broken)
    assert Counter(kind for kind, _ in fuzz.fuzzed(20).failed) == {"raised": 20}
