"""A formal reading counts only if all of it is read and its sentence is read back to the same."""

from typing import Any

import pytest

from apps.mathcheck.checking import check_text
from apps.mathcheck.formal import NotFormal, formal_of
from apps.mathcheck.formal_context import formal_at

TIED, TWO, POSITIVE = "Let $x$ and $y$ be positive reals with $xy=1$.", r"So «x+y\ge 2».", "positive_real"
DEFINED = r"Let $a$, $b$ be real and let $s=a+b$. Hence «s^2\ge 4ab»."


def reading(claim: str, *conditions: object, **names: str) -> dict[str, Any]:
    named = [{"name": name, "domain": domain.replace("_", " ")} for name, domain in names.items()]
    return {"names": named, "conditions": list(conditions), "claim": claim}


@pytest.mark.parametrize(
    ("value", "sentence", "outcome"),
    [
        (reading(r"n^2\ge n", n="positive_integer"), r"For all positive integers $n$: $n^2\ge n$.", "proved"),
        (
            reading("ab>2", "a>b", r"b\ge 1", a="real", b="positive_real"),
            r"For all real numbers $a$ and all positive real numbers $b$ with $a>b$ and $b\ge 1$: $ab>2$.",
            "refuted",
        ),
        (
            reading(r"p\mid n+k+x", "x=2p", p="prime", n="odd_integer", k="even_integer", x="integer"),
            "For all primes $p$ and all odd integers $n$ and all even integers $k$ and all integers $x$ with $x=2p$:"
            r" $p\mid n+k+x$.",
            "refuted",
        ),
        (reading("x>0", "x>2", x="real"), "Let $x$ be a real number with $x>2$. Then $x>0$.", "proved"),
        (reading("i=n", "2i=2n", i="integer", n="integer"), "Let $i$, $n$ be integers with $2i=2n$. Then $i=n$.", "proved"),
        (reading("2+2=5"), "It holds that $2+2=5$.", "refuted"),
        (
            reading(r"\sum_{k=1}^n k=\frac{n(n+1)}{2}", n="positive_integer", y="real"),
            r"For all positive integers $n$: $\sum_{k=1}^n k=\frac{n(n+1)}{2}$.",
            "proved",
        ),
    ],
)
def test_a_reading_has_a_sentence_whose_claim_is_tested(value: dict[str, Any], sentence: str, outcome: str) -> None:
    formal = formal_of(value)
    assert formal is not None
    assert formal.sentence == sentence
    assert [one.outcome for one in check_text(sentence) if one.anchor.start == formal.claim_start] == [outcome]


def test_every_domain_is_read_back() -> None:
    for domain in (
        "integer", "positive_integer", "nonnegative_integer", "odd_integer", "even_integer", "prime", "rational", "real",
        "positive_real", "nonnegative_real", "nonzero_real",
    ):  # fmt: skip
        formal = formal_of(reading("a+b+c=1", "a+b>2", a=domain, b=domain, c="real"))
        assert formal is not None


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (reading("f(x)=2", x="real"), "unknown function"),
        (reading(r"x=2\text{ if }y", x="real"), "not one relation"),
        (reading(r"x\approx 2", x="real"), "not one relation"),
        (reading("x^2", x="real"), "not one relation"),
        (reading("0<x<y", x="real", y="real"), "a chain"),
        (reading("1/2n=k", n="integer", k="integer"), "more than one reading"),
        (reading("x=y", x="real"), "`y` is used without a domain"),
        (reading("x=y", "z>1", x="real", y="real"), "`z` is used without a domain"),
        (reading("x=1", "x is large", x="real"), "the condition `x is large`"),
        (reading("x=1", "1<2", x="real"), "about no name"),
        (reading("x=1", 7, x="real"), "a condition is missing"),
        (reading("x=1", x="complex"), "`complex` is no domain"),
        (reading("2x=6", "2x=6", x="real"), "one of its own conditions"),
        (reading("", x="real"), "the claim is missing"),
        (reading("x=1+" * 200 + "1", x="real"), "longer than 400"),
        ({"claim": "x=1", "names": [{"name": "x+1", "domain": "real"}], "conditions": []}, "`x+1` is no name"),
        ({"claim": "x=1", "names": "x", "conditions": []}, "needs the lists"),
        ({"claim": "x=1", "names": [], "conditions": ["x>1"] * 9}, "more than 8"),
    ],
)
def test_what_is_not_read_does_not_count(value: dict[str, Any], reason: str) -> None:
    with pytest.raises(NotFormal, match=reason.replace("+", r"\+")):
        formal_of(value)


@pytest.mark.parametrize(
    ("formula", "claim", "is_kept"),
    [
        (r"a+b\ge 2", r"a+b\ge 2", True),
        (r"a+b\ge 2", r"a+b\ge 3", False),
        (r"a+b\ge 2", "a+b>2", False),
        (r"s\ge 2", r"a+b\ge 2", True),
        (r"s\ge 2", "a+b>2", False),
        (r"$a+b$ is divisible by $2$", r"2\mid a+b", True),
        (r"a\equiv b\pmod 2", r"a\equiv b\pmod 4", False),
        (r"\sum_{k=1}^{a}k=b", r"\sum_{j=1}^{a}j=b", True),
    ],
)
def test_a_claim_is_that_of_the_formula_where_this_can_be_read(formula: str, claim: str, is_kept: bool) -> None:
    value = reading(claim, a="positive_integer", b="positive_integer")
    if is_kept:
        assert formal_of(value, formula) is not None
    else:
        with pytest.raises(NotFormal, match="not the marked formula"):
            formal_of(value, formula)


def test_a_model_may_decline() -> None:
    assert formal_of({"claim": "None", "names": [], "conditions": []}) is None


@pytest.mark.parametrize(
    ("context", "text", "value", "missing"),
    [
        ("", r"Let $n\ge 3$ be an integer. As all know, «n!\ge 2^n».", reading(r"n!\ge 2^n", n="nonnegative_integer"), "n ≥ 3"),
        ("", r"Let $n\ge 3$ be an integer. As all know, «n!\ge 2^n».", reading(r"n!\ge 2^n", r"n\ge 3", n="integer"), ""),
        ("", r"Let $n\ge 3$ be an integer. As all know, «n!\ge 2^n».", reading(r"n!\ge 2^n", "n>2", n="integer"), ""),
        ("Let $p$ be an odd prime.", r"Well, «p^2\ge 9».", reading(r"p^2\ge 9", p="prime"), "odd prime"),
        ("Let $p$ be a prime.", r"Well, «p^2\ge 4».", reading(r"p^2\ge 4", p="positive_integer"), "prime"),
        ("Let $p$ be a prime.", r"Well, «p^2\ge 4».", reading(r"p^2\ge 4", p="prime"), ""),
        (TIED, TWO, reading(r"x+y\ge 2", x=POSITIVE, y=POSITIVE), "x*y = 1"),
        (TIED, TWO, reading(r"x+y\ge 2", "xy=1", x="real", y="positive_real"), "x positive real"),
        (TIED, TWO, reading(r"x+y\ge 2", "xy=1", x=POSITIVE, y=POSITIVE), ""),
        ("", DEFINED, reading(r"s^2\ge 4ab", s="real", a="real", b="real"), "s is a + b"),
        ("", DEFINED, reading(r"(a+b)^2\ge 4ab", a="real", b="real"), ""),
    ],
)  # fmt: skip
def test_what_the_text_certainly_says_must_be_in_the_reading(
    context: str, text: str, value: dict[str, Any], missing: str
) -> None:
    plain = text.replace("«", "$").replace("»", "$")
    place = ("step 1", text.index("«") + 1, text.index("»"))
    if missing:
        with pytest.raises(NotFormal, match=missing.replace("*", r"\*").replace("+", r"\+")):
            formal_at(value, [("step 1", plain)], context, place)
    else:
        assert formal_at(value, [("step 1", plain)], context, place) is not None
