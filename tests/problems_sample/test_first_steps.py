"""Twelve easy problems, each with a right solution, one with a gap and a wrong one, by which judges can be measured."""

from itertools import combinations, pairwise
from math import comb, isqrt
from pathlib import Path

import pytest

from apps.problems.samples import first_steps
from apps.reasoning.texts.segmentation import segment, sentences
from apps.reasoning.texts.source import source_of
from tests.problems_sample.library import FIRST_STEPS, read_problem


def test_there_are_twelve_of_four_topics() -> None:
    topics = [str(read_problem(path).header["topic"]) for path in FIRST_STEPS]
    assert sorted(topics) == sorted("ACGN" * 3)


@pytest.mark.parametrize("path", FIRST_STEPS, ids=lambda path: path.stem)
def test_each_has_three_attempts_and_only_the_right_one_is_worth_all_points(path: Path) -> None:
    attempts = {attempt.kind: attempt for attempt in read_problem(path).attempts}
    assert list(attempts) == ["right", "gap", "wrong"]
    assert (attempts["right"].points, attempts["wrong"].points) == (7, 0)
    assert 2 <= attempts["gap"].points <= 6
    assert all(len(attempt.text) > 150 for attempt in attempts.values())


def test_every_attempt_that_is_not_right_has_its_first_broken_place() -> None:
    for slug, attempts in first_steps().items():
        for one in attempts:
            source = source_of(one.text)
            assert (one.broken_sentence is None) == (one.broken_step is None) == (one.kind == "right"), slug
            if one.broken_step and one.broken_sentence:
                step, sentence = segment(source)[one.broken_step - 1], sentences(source)[one.broken_sentence - 1]
                assert step.start <= sentence.start < sentence.end <= step.end, slug


def test_the_claims_on_numbers_hold_where_they_can_be_counted() -> None:
    assert all((n**3 - n) % 6 == 0 for n in range(-300, 300))
    assert all(sum(range(1, 2 * n, 2)) == n * n for n in range(1, 200))
    assert {a * a % 8 for a in range(-301, 301, 2)} == {1}
    primes = [p for p in range(2, 5000) if all(p % d for d in range(2, isqrt(p) + 1))]
    assert [p for p in primes if isqrt(p + 1) ** 2 == p + 1] == [3]


def test_the_claims_on_choices_and_diagonals_hold_where_they_can_be_counted() -> None:
    for n in range(1, 7):
        chosen = combinations(range(1, 2 * n + 1), n + 1)
        assert all(any(b - a == 1 for a, b in pairwise(one)) for one in chosen)
    assert all(comb(n, 2) - n == n * (n - 3) // 2 for n in range(3, 100))
