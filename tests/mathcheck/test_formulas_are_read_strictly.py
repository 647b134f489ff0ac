"""Formulas that the parser reads, and ambiguous ones that it refuses."""

from fractions import Fraction

import pytest

from apps.mathcheck.testing.evaluating import value_at
from apps.mathcheck.testing.values import Undefined, holds
from apps.mathcheck.tex.ellipsis import expanded
from apps.mathcheck.tex.lexing import tokens
from apps.mathcheck.tex.notation import NotUnderstood, Reading
from apps.mathcheck.tex.parsing import parsed

POINT = {"a": Fraction(2), "b": Fraction(3), "n": Fraction(10), "k": Fraction(4), "x": Fraction(1, 2)}


@pytest.mark.parametrize(
    ("tex", "value"),
    [
        (r"\frac12+\dfrac{1}{4}", Fraction(3, 4)),
        (r"\left(a+b\right)^2", 25),
        (r"2\cdot a\times b", 12),
        (r"\binom{n}{2}-{n}", 35),
        (r"k!\,(n-k)!", 17280),
        (r"\sqrt[3]{8}+\sqrt{\frac{9}{4}}", Fraction(7, 2)),
        (r"\sum_{k=1}^{n}k^2(k+1)", 3410),
        (r"\prod_{k=2}^{5}\frac{k-1}{k}", Fraction(1, 5)),
        (r"1+3+5+\dots+(2n-1)", 100),
        (r"n+(n-1)+\cdots+1", 55),
        (r"1\cdot 2\cdots n", 3628800),
        (r"1+2+4+\dots+64", 127),
        (r"1^2+2^2+\ldots+10^2", 385),
        (r"|a-b|+\lfloor x\rfloor+\lceil x\rceil", 2),
        (r"\gcd(n,k)+\operatorname{lcm}(a,b)", 8),
        (r"\log_2 8-\ln 1", 3),
        (r"10{,}000+10\,000", 20000),
        (r"0.25", Fraction(1, 4)),
    ],
)
def test_a_formula_has_its_exact_value(tex: str, value: Fraction | int) -> None:
    assert value_at(expanded(parsed(tokens(tex))), POINT) == value


@pytest.mark.parametrize(
    "tex",
    [
        "AB^2",
        "a(b)",
        "p(x-1)",
        "[x]+1",
        "f^2(x)",
        "(a,b)+1",
        r"\sin^{-1}x",
        r"\ln(x)^2",
        r"x\pm 1",
        r"101_2",
        r"\overline{ab}",
        "x2",
        "n and 1",
        r"\sum_{d\mid n}d",
        r"\sum_{k=1}^{n}2k+k",
        r"1+2+\dots",
        r"\frac{dy}{dx}",
        "n!!",
        r"x^{(2)}",
        r"1+4+\dots+n^3",
    ],
)
def test_ambiguous_formulas_are_refused(tex: str) -> None:
    with pytest.raises(NotUnderstood):
        expanded(parsed(tokens(tex)))


def test_an_inline_fraction_is_read_both_ways() -> None:
    loose, tight = parsed(tokens("1/2n")), parsed(tokens("1/2n"), reading=Reading(tight=True))
    assert value_at(loose, POINT) == 5
    assert value_at(tight, POINT) == Fraction(1, 20)


@pytest.mark.parametrize(
    "tex", [r"\frac{1}{a-2}", "0^0", r"\sqrt{a-b}", r"(a-b)^{\frac12}", r"\ln(a-2)", r"\binom{n}{-1}", "x!"]
)
def test_formulas_without_a_real_value_are_undefined(tex: str) -> None:
    with pytest.raises(Undefined):
        value_at(parsed(tokens(tex)), POINT)


def test_equal_irrational_numbers_are_never_distinguished() -> None:
    left, right = (value_at(parsed(tokens(tex)), {}) for tex in (r"\sqrt2\cdot\sqrt3", r"\sqrt6"))
    assert holds("=", left, right) is True
    assert holds(r"\le", left, right) is True
    assert holds("<", left, right) is None


def test_close_irrational_numbers_are_distinguished() -> None:
    left, right = (value_at(parsed(tokens(tex)), {}) for tex in (r"\sqrt2", r"\frac{665857}{470832}"))
    assert holds("<", left, right) is True
    assert holds("=", left, right) is False
