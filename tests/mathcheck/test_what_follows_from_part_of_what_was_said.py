"""A claim survives if some of the conditions imply it, although no test point meets all of them; none is refuted this way."""

import pytest

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import NOT_UNDERSTOOD, PROVED, REFUTED, SURVIVED
from apps.mathcheck.scope import Condition
from apps.mathcheck.testing.fields import passes_in_fields
from apps.mathcheck.testing.work import allowance
from apps.mathcheck.tex.lexing import tokens
from apps.mathcheck.tex.parsing import parsed


def _last(text: str) -> tuple[str, int]:
    found = check_text(text, seconds=30)[-1]
    return found.outcome, found.tests


def _condition(left: str, right: str, relation: str = "=") -> Condition:
    return Condition(relation, parsed(tokens(left), frozenset()), parsed(tokens(right), frozenset()))


FOLLOWS = [
    r"Let $x$ be a root of $x^2=x+1$. Then $x^3=2x+1$.",
    r"Suppose that $x+y=5$ and $xy=4$. Then $x^3+y^3=65$.",
    r"Let $x+y+z=0$ and $xy+yz+zx=-3$. Then $x^2+y^2+z^2=6$.",
    r"Suppose $\frac{a^2+b^2+c}{ab}=k$. Then $a^2-kab+b^2+c=0$.",
    r"We know $f(0)=0$ and $f(b)=f(0)-b$. Hence $f(b)+b=0$.",
    r"We know $a_{n+1}=2a_n+1$. Hence $a_{n+1}+1=2(a_n+1)$.",
    r"We have $f(x+y)=f(x)+f(y)$. Therefore $2f(y+x)=2f(x)+2f(y)$.",
    r"Suppose $s^2=2$, $s>1$ and $u^3=s+v$ and $v^2=3$. Then $s^4=4$.",
]
DOES_NOT = [
    r"Let $x$ be a root of $x^2=x+1$. Then $x^3=2x+2$.",
    r"Suppose that $x+y=5$ and $xy=4$. Then $x^3+y^3=64$.",
    r"Let $x+y+z=0$ and $xy+yz+zx=-3$. Then $x^2+y^2+z^2=3$.",
    r"Suppose $\frac{a^2+b^2+c}{ab}=k$. Then $a^2-kab-b^2+c=0$.",
    r"We know $f(0)=0$ and $f(b)=f(0)-b$. Hence $f(b)-b=0$.",
    r"We know $a_{n+1}=2a_n+1$. Hence $a_{n+1}+1=2a_n+1$.",
    r"We have $f(x+y)=f(x)+f(y)$. Therefore $f(x-y)=f(x)+f(y)$.",
    r"We know $f(a)\ge f(b)$ and $f(b)\ge 3$. Then $f(a)\ge 4$.",
]


@pytest.mark.parametrize("text", FOLLOWS)
def test_a_claim_that_follows_survives_or_is_proved(text: str) -> None:
    outcome, tests = _last(text)
    assert outcome in (PROVED, SURVIVED)
    assert tests >= 8


@pytest.mark.parametrize("text", DOES_NOT)
def test_a_claim_that_does_not_follow_does_not_survive(text: str) -> None:
    assert _last(text)[0] in (NOT_UNDERSTOOD, REFUTED)


@pytest.mark.parametrize(
    "text", [r"We know $f(a)=f(b)$. We conclude $f(a)=f(b)$.", r"We know $f(a)=f(b)+1$. Then $f(b)+1=f(a)$."]
)
def test_a_claim_is_no_evidence_for_itself(text: str) -> None:
    assert _last(text)[0] == NOT_UNDERSTOOD


def test_an_inequality_of_other_values_does_not_follow() -> None:
    assert _last(r"We know $f(a)=2$ and $f(b)=5$. Then $f(a)\ne f(c)$.")[0] == NOT_UNDERSTOOD


def test_an_order_of_unknown_values_follows_from_another() -> None:
    assert _last(r"We know $f(a)\ge f(b)$ and $f(b)\ge 3$. Then $f(a)\ge 3$.")[0] == SURVIVED


@pytest.mark.parametrize(
    ("claim", "given", "passes"),
    [
        (("x^3", "2x+1"), [("x^2", "x+1")], True),
        (("x^3", "2x"), [("x^2", "x+1")], None),
        (("x^6", "1"), [("x^2", "x+1")], None),
        (("x", "1"), [("x^2", "1")], None),
        (("x^3", "2x+1"), [("x^2", "x+1"), ("x^2", "x+2")], 0),
        (("a+b+c+d", "10"), [("a+b", "4"), ("c+d", "6")], True),
        (("a+b+c+d", "9"), [("a+b", "4"), ("c+d", "6")], None),
        (("2^nx", "2^n+2^nx^2"), [("x", "1+x^2")], True),
        (("x^3", "x^3"), [], 0),
    ],
)
def test_equations_are_tried_in_finite_fields(
    claim: tuple[str, str], given: list[tuple[str, str]], passes: bool | int | None
) -> None:
    found = passes_in_fields(_condition(*claim), [_condition(*one) for one in given])
    assert (found is None) is (passes is None)
    assert bool(found) is bool(passes)


def test_other_relations_are_not_tried_in_fields_and_no_work_gives_no_answer() -> None:
    given = [_condition("x^2", "x+1")]
    assert passes_in_fields(_condition("x^3", "2x", r"\ge"), given) == 0
    with allowance(0):
        assert passes_in_fields(_condition("x^3", "2x+1"), given) == 0


def test_equal_arguments_in_another_order_are_one_value() -> None:
    assert _last(r"We know $f(x+y)=3f(x)$. Then $f(y+x)-3f(x)=0$.")[0] == SURVIVED
