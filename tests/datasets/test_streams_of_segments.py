"""Answers in segments are joined: carried over, cut off at the cap, or rejected."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.segments import Segments
from apps.recipes.rows.pieces import Piece
from tests.datasets.streams import a_turn, attempt, producer, shards, stream_state

SHORT = Segments(tokens=2, most=2)


def piece(name: str, number: int, tokens: Sequence[int], *, finished: bool, version: int, reward: float = 1.0) -> Piece:
    part = a_turn(completion_ids=tokens, logprobs=[-0.5] * len(tokens), policy_version=version)
    return Piece(attempt(name, reward), part, number, finished)


def test_unfinished_answers_are_carried_over_and_cut_off_at_the_cap_with_reward_0(tmp_path: Path) -> None:
    with producer(tmp_path, segments=SHORT) as made:
        assert made.take_piece(piece("a", 0, [5, 6], finished=False, version=3)) == []
        assert made.take_piece(piece("b", 0, [7, 8], finished=False, version=3)) == []
        made.write_status("running")
        assert stream_state(tmp_path)["carried"] == 2
        assert made.take_piece(piece("a", 1, [9], finished=True, version=4)) == []
        assert made.take_piece(piece("a", 1, [9], finished=True, version=4)) == [], "a repeated piece"
        assert made.take_piece(piece("b", 1, [9, 9], finished=False, version=4)) == ["00000000.parquet"]
    whole, cut = shards(tmp_path)[0]
    assert (whole.completion_ids, whole.finish_reason, whole.policy_version, whole.reward) == ([5, 6, 9], "stop", 3, 1.0)
    assert (cut.completion_ids, cut.finish_reason, cut.reward) == ([7, 8, 9, 9], "length", 0.0)
    assert stream_state(tmp_path)["truncated"] == 1


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (piece("a", 2, [9], finished=True, version=4), "got piece 2, expected piece 1"),
        (piece("a", 1, [9, 9, 9], finished=True, version=4), "a segment of 3 tokens; 2 are allowed"),
        (Piece(attempt("a", 1), a_turn(prompt_ids=(9,)), 1, finished=True), "continues another prompt"),
        (Piece(attempt("a", 1), a_turn(loss_mask=(1, 0)), 1, finished=True), "only the policy's own tokens"),
        (Piece(attempt("a", 1), a_turn(logprobs=None), 1, finished=True), "0 log-probabilities"),
        (Piece(attempt("a", 1), a_turn(), 0, finished=True, place=1), "have one turn"),
    ],
    ids=["gap", "too long", "other prompt", "a tool's tokens", "no log-probabilities", "second turn"],
)
def test_invalid_segments_are_rejected(tmp_path: Path, wrong: Piece, reason: str) -> None:
    with producer(tmp_path, segments=SHORT) as made:
        made.take_piece(piece("a", 0, [5, 6], finished=False, version=3))
        with pytest.raises(NotLearnable, match=reason):
            made.take_piece(wrong)
