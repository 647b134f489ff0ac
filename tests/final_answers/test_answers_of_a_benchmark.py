"""Answers that others wrote: each equals itself in another spelling, and differs from its neighbour."""

import csv
import itertools
import os
from collections import Counter
from pathlib import Path

import pytest

from apps.reasoning.answers.comparison import answers_compared
from apps.reasoning.answers.reading.reading import AnswerReader
from apps.reasoning.answers.values.shapes import Words
from apps.reasoning.answers.work import Work

ROOT = Path(__file__).resolve().parents[2]
BENCH = Path(os.environ.get("SHARED_DATA", ROOT / "../shared/data")) / "imo-bench/answerbench_v2.csv"
pytestmark = [pytest.mark.shared_data, pytest.mark.skipif(not BENCH.exists(), reason="SHARED_DATA holds no imo-bench")]


@pytest.fixture(scope="module")
def answers() -> list[str]:
    with BENCH.open(encoding="utf-8", newline="") as file:
        return [row["Short Answer"] for row in csv.DictReader(file)]


def test_at_least_95_percent_are_read(answers: list[str]) -> None:
    unread = [answer for answer in answers if isinstance(AnswerReader(answer, Work()).read(), Words)]
    assert len(answers) == 400
    assert len(unread) <= 0.05 * len(answers), unread


def test_each_equals_itself_in_another_spelling(answers: list[str]) -> None:
    """With other commands for fractions and brackets, so that no texts with them are the same word for word."""
    found: Counter[str] = Counter()
    for answer in answers:
        spelled = answer.replace(r"\frac", r"\cfrac").replace("(", r"\Big(").replace(")", r"\Big)")
        found[answers_compared(f"answers: {spelled}", answer).outcome] += 1
    assert found["different"] == 0
    assert found["equal"] >= 0.95 * len(answers), found


def test_no_answer_equals_its_neighbour_and_most_are_decided(answers: list[str]) -> None:
    """A given answer with letters that the expected one has not is undecided: the problem may give their values."""
    pairs = [(one, two) for one, two in itertools.pairwise(answers) if one.strip() != two.strip()]
    found = Counter(answers_compared(one, two).outcome for one, two in pairs)
    assert found["equal"] == 0
    assert found["different"] >= 0.75 * len(pairs), found
