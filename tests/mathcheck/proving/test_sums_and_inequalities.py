r"""Sums by telescopes and inequalities by derivatives: true ones, and false ones that no test sees before the provers."""

from fractions import Fraction

import pytest

from apps.mathcheck.checking import check_text
from apps.mathcheck.claims import links, resolved
from apps.mathcheck.findings import PROVED
from apps.mathcheck.proving.calculus.boxes import boxes_needed
from apps.mathcheck.proving.calculus.derivatives import derivative
from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.prove import prove
from apps.mathcheck.scope import Condition, Domain, Scope
from apps.mathcheck.tex.lexing import tokens
from apps.mathcheck.tex.parsing import parsed
from apps.mathcheck.tex.relations import statements
from apps.mathcheck.tex.tree import Node

SUMS = "closed forms of sums", "induction"
DERIVATIVES = "signs of derivatives"


def node(tex: str) -> Node:
    return resolved(parsed(tokens(tex)), Scope())


def conditions(tex: str) -> list[Condition]:
    found = [link for statement in statements(tex) for link in links(statement)]
    return [Condition(link.relation, *(resolved(parsed(side), Scope()) for side in (link.left, link.right))) for link in found]


def proof(claim: str, given: str, kind: str = "real") -> Certificate | None:
    """The provers' answer under conditions, with all names of a kind, and with no test before."""
    (wanted,) = conditions(claim)
    known = conditions(given) if given else []
    names = wanted.names.union(*(one.names for one in known))
    return prove([wanted], Scope(domains={key: Domain(kind=kind, declared=True) for key in names}, conditions=known))


@pytest.mark.parametrize(
    ("claim", "given"),
    [
        (r"\sum_{k=1}^n\frac1{k(k+1)}<1", r"n\ge1"),
        (r"\sum_{k=1}^n\frac1{k(k+1)(k+2)}<\frac14", r"n\ge1"),
        (r"\sum_{k=1}^n\frac k{(k+1)!}<1", r"n\ge1"),
        (r"\sum_{k=0}^n\frac k{2^k}<2", r"n\ge0"),
        (r"\sum_{k=1}^n k\cdot k!=(n+1)!-1", r"n\ge1"),
        (r"\sum_{k=0}^n k^3=\left(\sum_{k=0}^n k\right)^2", r"n\ge0"),
        (r"\sum_{k=n}^{2n}k=\frac{3n(n+1)}2", r"n\ge0"),
        (r"\sum_{k=0}^n\binom nk=2^n", r"n\ge0"),
        (r"\sum_{k=0}^n k^2\binom nk=\frac{n(n+1)2^n}4", r"n\ge0"),
        (r"\sum_{k=0}^n\binom nk^2=\binom{2n}n", r"n\ge0"),
        (r"\sum_{k=0}^n\frac1{k+1}\binom nk=\frac{2^{n+1}-1}{n+1}", r"n\ge0"),
        (r"\sum_{k=0}^n\frac{(-1)^k}{k+1}\binom nk=\frac1{n+1}", r"n\ge0"),
        (r"\sum_{k=0}^n\binom{n+k}k=\binom{2n+1}n", r"n\ge0"),
        (r"\sum_{k=r}^n\binom kr=\binom{n+1}{r+1}", r"n\ge r\ge0"),
        (r"\sum_{k=0}^m(-1)^k\binom nk=(-1)^m\binom{n-1}m", r"n>m\ge0"),
        (r"\sum_{k=0}^n\binom nk\le4^n", r"n\ge0"),
    ],
)
def test_a_true_sum_is_proved(claim: str, given: str) -> None:
    found = proof(claim, given, "integer")
    assert found is not None
    assert found.method in SUMS
    assert not found.where


@pytest.mark.parametrize(
    ("claim", "given"),
    [
        (r"\sum_{k=1}^n\frac1{k(k+1)}<\frac{99}{100}", r"n\ge1"),
        (r"\sum_{k=1}^n\frac1{k(k+1)}<1-\frac1{n+1}", r"n\ge1"),
        (r"\sum_{k=0}^n\frac1{k(k+1)}<1", r"n\ge1"),
        (r"\sum_{k=-2}^n\frac1{k(k+1)}\le1", r"n\ge1"),
        (r"\sum_{k=1}^n k\cdot k!=(n+1)!", r"n\ge1"),
        (r"\sum_{k=0}^n(-1)^k\binom nk=0", r"n\ge0"),
        (r"\sum_{k=0}^n k\binom nk=n2^n", r"n\ge0"),
        (r"\sum_{k=1}^n\binom nk=2^n", r"n\ge0"),
        (r"\sum_{k=0}^n\binom nk=2^n", r"n\ge-2"),
        (r"\sum_{k=0}^n\binom nk^2=\binom{2n}n+n(n-1)(n-2)(n-3)", r"n\ge0"),
        (r"\sum_{k=0}^n\binom nk^2=\binom{2n+1}n", r"n\ge0"),
        (r"\sum_{k=0}^n\binom nk^2<\binom{2n}n", r"n\ge0"),
        (r"\sum_{k=0}^n\frac1{k+1}\binom nk=\frac{2^{n+1}}{n+1}", r"n\ge0"),
        (r"\sum_{k=r}^n\binom kr=\binom{n+1}{r}", r"n\ge r\ge0"),
        (r"\sum_{k=r}^n\binom kr=\binom{n+1}{r+1}", r"n\ge0"),
        (r"\sum_{k=0}^m(-1)^k\binom nk=(-1)^m\binom{n-1}m", r"m\ge n\ge0"),
        (r"\sum_{k=n}^{2n}k=\frac{3n(n+1)}2", r"n\ge-5"),
        (r"\sum_{k=1}^n k=\frac{n(n+1)}2", r"n\ge-5"),
        (r"\sum_{k=5}^n k\ge5", r"n\ge1"),
        (r"\sum_{k=0}^{2n}\binom nk=2^n+1", r"n\ge0"),
    ],
)
def test_a_false_or_undefined_sum_is_not(claim: str, given: str) -> None:
    assert proof(claim, given, "integer") is None


@pytest.mark.parametrize(
    ("claim", "given"),
    [
        (r"\exp(x)\ge1+x", ""),
        (r"\ln x\le x-1", "x>0"),
        (r"\sin x\le x", r"x\ge0"),
        (r"\cos x\ge1-\frac{x^2}2", ""),
        (r"\sin x>x-\frac{x^3}6", "x>0"),
        (r"\sin x\ge\frac{2x}\pi", r"0\le x\le\frac\pi2"),
        (r"\tan x>x", r"0<x<\frac\pi2"),
        (r"\ln(1+x)<x", "x>0"),
        (r"\ln x>\frac{2(x-1)}{x+1}", "x>1"),
        (r"\exp(x)\le1+2x", r"0\le x\le1"),
        (r"\exp(x)>x^2", "x>0"),
        (r"x\ln x\ge x-1", "x>0"),
        (r"\arctan x<x", "x>0"),
        (r"\ln x+\sqrt x<3", r"1\le x\le2"),
    ],
)
def test_a_true_inequality_is_proved(claim: str, given: str) -> None:
    found = proof(claim, given)
    assert found is not None
    assert found.method == DERIVATIVES


@pytest.mark.parametrize(
    ("claim", "given"),
    [
        (r"\exp(x)>1+x", ""),
        (r"\exp(x)\ge1+\frac{101x}{100}", ""),
        (r"\ln x<x-1", "x>0"),
        (r"\ln x\le x-1", "x>-1"),
        (r"\ln x\le x-1", r"x\ge0"),
        (r"\ln x\le x-\frac{1001}{1000}", "x>0"),
        (r"\sin x\le x", ""),
        (r"\sin x<x", r"x\ge0"),
        (r"\sin x\le\frac{999x}{1000}", r"x\ge0"),
        (r"\sin x\ge\frac{2x}\pi", r"0\le x\le\frac{51}{32}"),
        (r"\sin x>\frac{2x}\pi", r"0<x\le\frac\pi2"),
        (r"\tan x>x", r"0<x<\frac{16}{10}"),
        (r"\tan x>x", r"0<x\le\frac\pi2"),
        (r"\exp(x)\le1+2x", r"0\le x\le\frac{13}{10}"),
        (r"\exp(x)<1+2x", r"0\le x\le1"),
        (r"\exp(x)>x^3", "x>0"),
        (r"x\ln x\ge x-1", r"x\ge0"),
        (r"\frac1x<2", r"-1\le x\le1"),
        (r"\frac1x>-2", r"-1<x<1"),
        (r"\sqrt{x^2}\le x", ""),
        (r"\sqrt x>x", r"0<x\le1"),
        (r"\arctan x<\frac{157}{100}", "x>0"),
        (r"\cos x>1-\frac{x^2}2", ""),
        (r"\sin x\cos x<\frac12", r"0\le x\le1"),
        (r"\exp(x)<0", "1<x<1"),
        (r"\exp(x)<0", r"x\ge1,x\le0"),
        (r"\exp(x)+\sin y<3", r"0\le x\le1,0\le y\le1"),
        (r"\exp(x)\sin y\ge\frac1{100}", r"0\le x\le1,0\le y\le1"),
    ],
)
def test_a_false_or_undefined_inequality_is_not(claim: str, given: str) -> None:
    assert proof(claim, given) is None


def test_strict_inequalities_of_bounded_names_are_covered_by_boxes() -> None:
    found = proof(r"\exp(x)+\sin y<4", r"0\le x\le1,0\le y\le1")
    assert found is not None
    assert found.method == "intervals on every box"
    assert boxes_needed(node(r"x^2-x+\frac{26}{100}"), {"x": (Fraction(0), Fraction(1))}) is not None
    assert boxes_needed(node(r"x^2-x+\frac14"), {"x": (Fraction(0), Fraction(1))}) is None


def test_a_derivative_never_simplifies_a_root_of_a_square() -> None:
    slope = derivative(node(r"\sqrt{x^2}"), "x")
    assert slope is not None
    assert derivative(node(r"\left|x\right|"), "x") is None
    assert derivative(node("5"), "x") == node("0")


def test_the_certificate_names_the_telescope_and_the_places_of_equality() -> None:
    (found,) = check_text(r"Let $n$ be a positive integer. Then $\sum_{k=1}^n\frac1{k(k+1)}<1$.")
    assert found.outcome == PROVED
    assert found.certificate is not None
    assert "the term is T(k + 1) - T(k) for T = (-k - 1)*1/(k*(k + 1))" in found.certificate.steps[0]
    certificate = proof(r"\ln x\le x-1", "x>0")
    assert certificate is not None
    assert "at x = 1, (x - 1) - ln(x) is 0" in certificate.steps
