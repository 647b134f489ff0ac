"""Statistics of public files, to three decimals, for anyone to recompute."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from apps.reasoning.agreement.pairs import Pair
from apps.reasoning.agreement.report import Agreement, agree
from apps.reasoning.domain.values import Unscored
from apps.reasoning.statistics.intervals import Interval

SHARED = Path(__file__).resolve().parents[2] / os.environ.get("SHARED_DATA", "../shared/data")
LOCKBOX = SHARED / "gradingbench/lockbox_summary.json"
DEEPSEEK = SHARED / "deepseek-math-v2/IMO-ProofBench-Advanced.jsonl"
POINTS = {"incorrect": 0.0, "partial": 1.0, "almost": 6.0, "correct": 7.0}

pytestmark = pytest.mark.shared_data
needs_lockbox = pytest.mark.skipif(not LOCKBOX.exists(), reason="SHARED_DATA holds no gradingbench")
needs_deepseek = pytest.mark.skipif(not DEEPSEEK.exists(), reason="SHARED_DATA holds no deepseek-math-v2")


def lockbox(variant: str) -> Agreement:
    rows = json.loads(LOCKBOX.read_text())["variants"][variant]["predictions"]
    return agree([_pair(row) for row in rows], draws=200)


def _pair(row: dict[str, Any]) -> Pair:
    label = row["prediction"]
    return Pair(
        paper=row["Grading ID"],
        problem=row["Problem ID"],
        human=float(row["Points"]),
        predicted=Unscored(reason="there is no label") if label is None else POINTS[label],
    )


def value(found: Agreement, slug: str) -> float:
    result = found.estimate(slug).value
    assert isinstance(result, float)
    return round(result, 3)


@needs_lockbox
def test_the_baseline_grader_of_the_lockbox() -> None:
    found = lockbox("baseline")
    assert (found.counts.pairs, len(found.unscored), found.accuracy) == (99, 1, 0.64)
    assert found.scale.words == "whole points from 0 to 7, 8 categories"
    expected = {
        "pearson": 0.653, "spearman": 0.664, "mae": 1.475, "rmse": 2.937, "qwk": 0.613, "off_by_one": 0.788,
        "off_by_two": 0.788, "ac2": 0.574, "scott_pi_weighted": 0.601, "bias": 1.172,
    }  # fmt: skip
    assert {slug: value(found, slug) for slug in expected} == expected


@needs_lockbox
def test_the_final_grader_of_the_lockbox() -> None:
    found = lockbox("guideline_gate_almost_boundary_v1")
    assert (found.counts.pairs, found.unscored, found.accuracy) == (100, (), 0.77)
    expected = {
        "pearson": 0.770, "spearman": 0.765, "mae": 0.930, "rmse": 2.335, "qwk": 0.748, "off_by_one": 0.870,
        "ac2": 0.721, "scott_pi_weighted": 0.745, "bias": 0.770,
    }  # fmt: skip
    assert {slug: value(found, slug) for slug in expected} == expected


@needs_lockbox
def test_both_graders_of_the_lockbox_have_intervals_around_their_values() -> None:
    for estimate in lockbox("baseline").estimates:
        assert isinstance(estimate.interval, Interval)
        assert isinstance(estimate.value, float)
        assert estimate.interval.low < estimate.value < estimate.interval.high


@needs_deepseek
def test_the_mean_of_deepseeks_verifier_is_rounded_for_kappa_only() -> None:
    rows = [json.loads(line) for line in DEEPSEEK.read_text().splitlines()]
    answers = [(row["problem_idx"], row["model_prediction"]) for row in rows]
    found = agree(
        [
            Pair(paper=name, human=answer["human_rating"], predicted=7 * answer["average_automatic_rating"])
            for name, answer in answers
        ],
        draws=0,
    )
    assert found.counts.pairs == 30
    assert found.rounded == 9
    expected = {
        "pearson": 0.706, "spearman": 0.778, "mae": 1.489, "rmse": 2.742, "qwk": 0.540, "ac2": 0.688,
        "scott_pi_weighted": 0.506, "bias": 1.489,
    }  # fmt: skip
    assert {slug: value(found, slug) for slug in expected} == expected
