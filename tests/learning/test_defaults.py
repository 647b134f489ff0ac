"""The papers' settings, as listed in the design."""

import pytest

from apps.recipes import grpo_rubric, marsrl, orealh
from apps.recipes.mathematics.conjugate_reward import DEFAULT_VOTES
from apps.recipes.mathematics.losses import DAPO, Clip, OrealFactors
from apps.recipes.mathematics.segments import Segments
from apps.recipes.recipe import Training
from apps.recipes.registry import TRAININGS


def test_clips_equal_those_of_the_papers() -> None:
    assert (DAPO.low, DAPO.high, DAPO.beta, DAPO.aggregation) == (0.2, 0.28, 0.0, "token")
    assert grpo_rubric.TRAINING.loss == Clip(4.0, 4.0, aggregation="sum")
    assert marsrl.TRAINING.loss == DAPO
    assert orealh.TRAINING.loss == OrealFactors(positive=1.0, negative=0.5, beta=0.01)


def test_a_step_of_mars_has_at_most_9216_answers_of_four_segments() -> None:
    groups, rollouts = 1 + 4 * 2, marsrl.TRAINING.rollouts
    assert rollouts is not None
    assert rollouts.prompts * rollouts.group * groups == 9216
    assert Segments().cap == rollouts.new_tokens


@pytest.mark.parametrize("recipe", [one for one in TRAININGS.values() if one.rollouts], ids=lambda one: one.name)
def test_a_step_learns_from_the_papers_number_of_answers(recipe: Training) -> None:
    assert recipe.rollouts is not None
    assert recipe.rows_per_step == recipe.rollouts.prompts * recipe.rollouts.group == 1024


def test_the_learning_rate_of_orealh_falls_to_a_fifth() -> None:
    assert orealh.TRAINING.rate.first / orealh.TRAINING.rate.last == 5
    assert DEFAULT_VOTES == 4
