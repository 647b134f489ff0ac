"""All recipes by name: settings for the trainer, and the function that makes rows from trajectories."""

from collections.abc import Callable
from dataclasses import dataclass

from apps.recipes import grpo_rubric, marsrl, orealh, rc_rl, sft_proofs, turn_dapo, turn_grpo, turn_ppo, turn_sft
from apps.recipes.mathematics.rows import Row
from apps.recipes.recipe import Training

#: Recipes that compare turns of one role with the same input; all others compare trajectories of one problem.
OF_TURNS = ("marsrl", "rc_rl")


@dataclass(frozen=True)
class Recipe:
    """One algorithm. `rows(trajectories, **options)` raises `NotLearnable` for unusable trajectories."""

    training: Training
    rows: Callable[..., list[Row]]


RECIPES = {
    recipe.training.name: recipe
    for recipe in (
        *(Recipe(module.TRAINING, module.rows) for module in (sft_proofs, grpo_rubric, rc_rl, turn_grpo, turn_ppo)),
        *(Recipe(module.TRAINING, module.rows) for module in (turn_dapo, turn_sft, orealh, marsrl)),
        Recipe(orealh.COLD_START, orealh.cold_start_rows),
    )
}
