"""When two statements are the same, and when they only look alike."""

import itertools
import random

import pytest

from apps.reasoning.graph.statements import AlikeIndex, normalise_statement, similarity, tokens


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (r"Let $a,b>0$. Then $\dfrac{a}{b}+\frac{b}{a}\geq 2$.", r"let $a, b > 0$; then \(\frac{a}{b} + \tfrac{b}{a} \ge 2\)"),
        ("For all $n$ the sum is even.", "for all $n$, the sum is **even**"),
        (r"$\left( x \right)^{2}\,\cdot\; y$", r"$(x)^2\cdot y$"),
        ("$a ≤ 2$", r"$a \leq2$"),
        ("$$x=1$$", r"\[ x = 1 \]"),
    ],
)
def test_the_same_statement_in_other_clothes_has_the_same_form(left: str, right: str) -> None:
    assert normalise_statement(left) == normalise_statement(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("$n$ is even.", "$n$ is not even."),
        ("$N>1$", "$n>1$"),
        ("$a<b$", r"$a\le b$"),
        ("For all $n$, $f(n)=0$.", "For some $n$, $f(n)=0$."),
        ("$x^{12}$", "$x^1 2$"),
        (r"$\alpha b$", r"$\alpha B$"),
    ],
)
def test_different_statements_have_different_forms(left: str, right: str) -> None:
    assert normalise_statement(left) != normalise_statement(right)


def test_near_duplicates_are_found_and_others_are_not() -> None:
    index = AlikeIndex()
    first, second, third = (
        normalise_statement(text)
        for text in (
            "Let $a, b > 0$ be real. Then $a/b+b/a \\ge 2$.",
            "Every prime $p>3$ satisfies $p^2 \\equiv 1$ modulo $24$.",
            "Let $a, b > 0$. Then $a/b+b/a \\ge 2$.",
        )
    )
    assert index.add("s0.1", first) == []
    assert index.add("s0.2", second) == []
    ((other, score),) = index.add("s1.1", third)
    assert other == "s0.1"
    assert 0.85 <= score < 1


def test_the_index_finds_exactly_what_comparing_every_pair_finds() -> None:
    draw = random.Random(3)
    words = [f"w{number}" for number in range(14)]
    texts = [" ".join(draw.sample(words, draw.randint(4, 13))) for _ in range(120)]
    index = AlikeIndex(0.7)
    found = {(name, int(other)) for name, text in enumerate(texts) for other, _ in index.add(str(name), text)}
    pairs = itertools.combinations(range(len(texts)), 2)
    expected = {(b, a) for a, b in pairs if similarity(tokens(texts[a]), tokens(texts[b])) >= 0.7}
    assert found == expected
    assert len(found) > 20
