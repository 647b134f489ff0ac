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


_MODULES = (sft_proofs, grpo_rubric, rc_rl, turn_grpo, turn_dapo, turn_ppo, turn_sft, orealh)
_ALL = (
    *(Recipe(module.TRAINING, module.rows) for module in _MODULES),
    Recipe(orealh.COLD_START, orealh.cold_start_rows),
    Recipe(marsrl.TRAINING, marsrl.rows),
)
#: In the order in which pages list them.
RECIPES = {recipe.training.name: recipe for recipe in _ALL}
TRAININGS = {name: recipe.training for name, recipe in RECIPES.items()}
