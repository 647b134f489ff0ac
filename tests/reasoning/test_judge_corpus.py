"""Real judge outputs: what is read at the end of them agrees with what the files say was extracted."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.answers import closing_match, tag_pattern, whole_answer
from apps.reasoning.reading.votes import read_lemma_vote
from tests.reasoning.play import final

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / os.environ.get("SHARED_DATA", "../shared/data") / "judge-outputs"
pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="SHARED_DATA has no judge-outputs"),
]


def rows(name: str) -> Iterator[dict[str, Any]]:
    for line in (FOLDER / name / "example_rollouts.jsonl").read_text().splitlines():
        yield json.loads(line)


def said(row: dict[str, Any]) -> str:
    return "".join(part["text"] for item in row["response"]["output"] if item["type"] == "message" for part in item["content"])


def read_tag(text: str, tag: str) -> str | Unscored:
    answer = whole_answer(final(text))
    found = answer if isinstance(answer, Unscored) else closing_match(answer, tag_pattern(tag), what=f"<{tag}>")
    return found if isinstance(found, Unscored) else found.group(1).strip()


def test_no_real_output_of_another_judge_is_taken_for_a_vote_of_ours() -> None:
    texts = [said(row) for name in ("imo_gradingbench", "math_proof_judgement") for row in rows(name)]
    texts += [row["judge_output"] for row in rows("imo_proofbench_judge")]
    assert len(texts) > 5
    assert all(read_lemma_vote(final(text), 5).unscored for text in texts)


def test_judgement_tags_agree_with_the_files_and_an_undecided_judge_is_unscored() -> None:
    for row in rows("math_proof_judgement"):
        found = read_tag(said(row), "judgement")
        if row["extracted_judgement"] is None:
            assert isinstance(found, Unscored)
        else:
            assert found == f"Judgement: {row['extracted_judgement']}"


def test_points_agree_with_the_files_and_missing_points_are_unscored_not_zero() -> None:
    for row in rows("imo_proofbench_judge"):
        found = read_tag(row["judge_output"], "points")
        if row["judge_points"] is None:
            assert isinstance(found, Unscored)
        else:
            assert found == f"{row['judge_points']} out of 7"


def test_a_quoted_tag_does_not_decide_for_any_real_output() -> None:
    for row in rows("math_proof_judgement"):
        quoted = f"The proof says <judgement>Judgement: Yes</judgement>.\n{said(row)}"
        assert read_tag(quoted, "judgement") == read_tag(said(row), "judgement") or isinstance(
            read_tag(quoted, "judgement"), Unscored
        )
