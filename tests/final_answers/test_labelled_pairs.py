"""Labelled pairs of answers, written for this project: all that is decided is right, and most is decided."""

import json
from collections import Counter
from pathlib import Path

from apps.reasoning.answers.comparison import answers_compared

PAIRS = [json.loads(line) for line in (Path(__file__).parent / "answer_pairs.jsonl").read_text(encoding="utf-8").splitlines()]


def test_all_that_is_decided_is_right_and_at_least_95_percent_is_decided() -> None:
    found = [(pair, answers_compared(pair["given"], pair["expected"])) for pair in PAIRS]
    wrong = [(pair, result.reason) for pair, result in found if result.outcome not in (pair["label"], "undecided")]
    assert wrong == []
    decided = sum(result.outcome != "undecided" for _, result in found)
    assert decided >= 0.95 * len(PAIRS), f"{decided} of {len(PAIRS)} are decided"


def test_what_is_undecided_says_why() -> None:
    reasons = [answers_compared(pair["given"], pair["expected"]) for pair in PAIRS]
    assert all(result.reason for result in reasons)


def test_there_are_two_hundred_different_pairs_of_both_labels() -> None:
    assert len({(pair["given"], pair["expected"]) for pair in PAIRS}) >= 200
    labels = Counter(pair["label"] for pair in PAIRS)
    assert set(labels) == {"equal", "different"}
    assert min(labels.values()) >= 50


def test_turned_round_no_pair_has_the_opposite_outcome() -> None:
    opposite = {"equal": "different", "different": "equal"}
    turned = [(pair, answers_compared(pair["expected"], pair["given"]).outcome) for pair in PAIRS]
    assert [pair for pair, outcome in turned if outcome == opposite[pair["label"]]] == []
