"""The same problem in other clothes is found; others of the same kind are not."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.reasoning.texts.likeness import ALIKE, SAME, LikenessIndex, likeness, tokens_of

ONE = (
    "Find all functions $f:\\mathbb{R}\\to\\mathbb{R}$ such that for all real numbers $x$ and $y$ we have "
    "$f(x^2+f(y)) = y + f(x)^2$. Justify your answer."
)
OTHERS = {
    "clothes": "Find all functions \\( f : \\mathbb R \\rightarrow \\mathbb R \\) such that for all real numbers \\(x\\) and "
    "\\(y\\) we have \\[ f\\left(x^{2}+f(y)\\right)=y+f(x)^{2} . \\] Justify your answer!",
    "inside": f"(From a training camp, day 2) {ONE} Remark: a classic, see also the notes of last year for variants.",
    "cousin": "Find all functions $f:\\mathbb{R}\\to\\mathbb{R}$ such that $f(xf(y)+x)=xy+f(x)$ for all $x,y$.",
    "stranger": "A convex hexagon has all its angles equal. Prove that the differences of opposite sides are equal.",
}


@pytest.mark.parametrize(("name", "expected"), [("clothes", True), ("inside", True), ("cousin", False), ("stranger", False)])
def test_the_same_problem_is_known_whatever_its_typesetting(name: str, expected: bool) -> None:
    found = LikenessIndex([(name, OTHERS[name])]).alike(ONE)
    assert bool(found and found[0].is_same) is expected


def test_the_most_alike_come_first_and_those_below_the_limit_not_at_all() -> None:
    index = LikenessIndex(list(OTHERS.items()))
    assert len(index) == 4
    scores = [one.score for one in index.alike(ONE)]
    assert scores == sorted(scores, reverse=True)
    assert all(score >= ALIKE for score in scores)
    assert {one.key for one in index.alike(ONE) if one.score >= SAME} == {"clothes", "inside"}


def test_a_short_text_is_not_found_inside_every_longer_one() -> None:
    assert likeness(tokens_of("Prove that $x=y$."), tokens_of(ONE + " Prove that x=y.")) < ALIKE
    assert likeness((), tokens_of(ONE)) == 0.0
    assert LikenessIndex([("a", "")]).alike("") == []


def test_one_changed_number_is_still_alike_and_many_words_are_not() -> None:
    changed = ONE.replace("x^2", "x^3")
    assert likeness(tokens_of(ONE), tokens_of(changed)) > SAME
    words = list(tokens_of(ONE))
    random.Random(3).shuffle(words)
    assert likeness(tokens_of(ONE), words) < ALIKE


@given(st.text(max_size=200), st.text(max_size=200))
def test_likeness_lies_between_none_and_all_and_a_text_is_like_itself(one: str, other: str) -> None:
    tokens = tokens_of(one)
    assert 0 <= likeness(tokens, tokens_of(other)) <= 1
    assert not tokens or likeness(tokens, tokens) == 1.0 or len(tokens) < 3
