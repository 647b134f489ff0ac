"""Real judge outputs: what the tag and last-word readers take from them agrees with what the files say was extracted."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.answers import read_last_word, read_verdict_tag
from tests.reasoning.play import final

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / os.environ.get("SHARED_DATA", "../shared/data") / "judge-outputs"
GRADES = frozenset({"incorrect", "partial", "almost", "correct"})
pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="SHARED_DATA has no judge-outputs"),
]


def rows(name: str) -> Iterator[dict[str, Any]]:
    for line in (FOLDER / name / "example_rollouts.jsonl").read_text().splitlines():
        yield json.loads(line)


def said(row: dict[str, Any]) -> str:
    return "".join(part["text"] for item in row["response"]["output"] if item["type"] == "message" for part in item["content"])


def test_grades_in_one_word_agree_with_the_files() -> None:
    read = [(read_last_word(final(said(row)), GRADES), row["extracted_grade"]) for row in rows("imo_gradingbench")]
    assert len(read) == 5
    assert all(mine == theirs for mine, theirs in read)


def test_judgement_tags_agree_with_the_files_and_an_undecided_judge_is_unscored() -> None:
    for row in rows("math_proof_judgement"):
        found = read_verdict_tag(final(said(row)), "judgement")
        if row["extracted_judgement"] is None:
            assert isinstance(found, Unscored)
        else:
            assert found == f"Judgement: {row['extracted_judgement']}"


def test_points_agree_with_the_files_and_missing_points_are_unscored_not_zero() -> None:
    for row in rows("imo_proofbench_judge"):
        found = read_verdict_tag(final(row["judge_output"]), "points")
        if row["judge_points"] is None:
            assert isinstance(found, Unscored)
        else:
            assert found == f"{row['judge_points']} out of 7"


def test_a_quoted_tag_does_not_decide_for_any_real_output() -> None:
    for row in rows("math_proof_judgement"):
        quoted = final(f"The proof says <judgement>Judgement: Yes</judgement>.\n{said(row)}")
        assert read_verdict_tag(quoted, "judgement") == read_verdict_tag(final(said(row)), "judgement") or isinstance(
            read_verdict_tag(quoted, "judgement"), Unscored
        )
