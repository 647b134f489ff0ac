"""What has two meanings is decided only where both agree, and the reason says what is not clear."""

import pytest

from apps.reasoning.answers.comparison import answers_compared


@pytest.mark.parametrize(
    ("given", "expected", "reason"),
    [
        ("$1/2n$", r"$\frac{n}{2}$", "slash"),
        (r"$\log 100$", "2", "base of a logarithm"),
        ("$3,14$", "3.14", "decimal comma"),
        (r"$\frac{\pi}{3}$", "60", "degrees"),
        ("50%", "50", "percent"),
        ("$n>2$", r"$n\ge3$", "whole numbers"),
        (r"$\sqrt{x^2}$", "$x$", "positive values"),
        (r"$\lfloor x\rfloor+1$", r"$\lfloor x+1\rfloor+\lfloor 0x/2\rfloor-\lfloor x\rfloor+\lceil x\rceil$", "whole values"),
        (r"$\frac{n^2}{4}$", r"$\lfloor n^2/4\rfloor$", "condition of the problem"),
        ("$N-1$", "2024", "meaning of N"),
        ("$M=7$", "$m=7$", "is called"),
        ("$f(x)=x+c$", "$f(x)=x-c$", "constants"),
        ("$n=4k+3$", "$n=4k-1$", "family"),
        ("1, 2", "(1,2)", "order counts"),
        (r"$(\pm1,\pm1)$", "$(1,1),(-1,-1)$", "signs belong together"),
        ("odd $n$", "all odd positive integers", "signs are meant"),
        (r"$\mathbb{N}$", "all positive integers", "0 is a natural number"),
        (r"$x \approx 1.41$", r"$\sqrt2$", "rounded"),
        ("$2^n$ for $n>3$", "$2^n$", "condition"),
        (r"$(1+i)^2$", "$2i$", "imaginary"),
        ("$(1,2}$", "$(1,2)$", "closed by"),
        ("$n=1$ and $0=2$", "1, 2", "sides are not equal"),
        ("$[x)=x^2$", "$f(x)=x^2$", "could not be read"),
        ("$2^{90000}+1$", "$2^{90000}$", "too small"),
        ("none", "0", "there is none"),
        ("0", "there are no solutions", "there is none"),
        ("none", r"$\{0\}$", "there is none"),
        (r"$\sqrt[7]2+\sqrt[5]3+\sqrt[3]5$", r"$\sqrt[7]2+\sqrt[5]3+\sqrt[3]5+10^{-4000}$", "too fine"),
        (r"$\sqrt[7]2+\sqrt[5]3+\sqrt[3]5$", r"$\sqrt[7]2+\sqrt[5]3+\sqrt[3]5\cdot\frac{10^{4000}+1}{10^{4000}}$", "too fine"),
        (r"$\sqrt[3]{x}+10^{-100}$", r"$\sqrt[3]{x}$", "too fine"),
        (r"$\varphi(2n)$", r"$2\varphi(n)$", "function whose values"),
    ],
)
def test_it_is_undecided_and_the_reason_names_it(given: str, expected: str, reason: str) -> None:
    found = answers_compared(given, expected)
    assert (found.outcome, reason in found.reason) == ("undecided", True), found


@pytest.mark.parametrize(("given", "expected"), [("1,234", "1234"), (r"$2\frac13$", r"$\frac73$"), ("12,345,678", "12345678")])
def test_a_firm_convention_decides(given: str, expected: str) -> None:
    assert answers_compared(given, expected).outcome == "equal"


def test_thousands_and_lists_are_distinguished() -> None:
    assert answers_compared("1,2,3", "123").outcome == "different"
    assert answers_compared("12,345", r"\{12, 345\}").outcome == "undecided"
