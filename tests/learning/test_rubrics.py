"""Rubric grades and prompts of QED-Nano."""

from math import nan

import pytest

from apps.recipes.mathematics.arrays import NothingToLearn, NotLearnable
from apps.recipes.mathematics.rubric import keeps_prompt, prompts_kept, rubric_reward


def test_rewards_are_shares_of_full_marks_and_invalid_grades_are_rejected() -> None:
    assert [rubric_reward(grade) for grade in (0, 3.5, 7)] == [0, 0.5, 1]
    for grade in (-1, 8, nan):
        with pytest.raises(NotLearnable, match="grade"):
            rubric_reward(grade)


def test_too_easy_and_unsolved_prompts_are_left_out() -> None:
    assert [keeps_prompt(rate) for rate in (0, 0.1, 0.69, 0.7, 1)] == [False, True, True, False, False]


def test_filtering_keeps_learnable_prompts() -> None:
    prompts = [("easy", [1.0, 0.9, 0.6]), ("never", [0.0, 0.0]), ("good", [1.0, 0.0])]
    assert prompts_kept(prompts, "filtered") == ["good"]
    assert prompts_kept(prompts, "all") == ["easy", "never", "good"]
    with pytest.raises(NothingToLearn, match=r"earned 83%, 0% of the marks; kept prompts earn more than 0 and less than 70%"):
        prompts_kept(prompts[:2], "filtered")
    assert prompts_kept([], "filtered") == []
