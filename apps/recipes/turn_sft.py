"""AlphaApollo's supervised learning of turns: turns of successful trajectories, with tool text masked."""

from collections.abc import Sequence

from apps.recipes.mathematics.arrays import NothingToLearn, finite
from apps.recipes.mathematics.rows import Row
from apps.recipes.options import Option
from apps.recipes.recipe import Rate, Training
from apps.recipes.trajectory import Trajectory, row_of

TRAINING = Training(
    name="turn_sft",
    title="Supervised learning of turns",
    source="AlphaApollo §2.2",
    family="turns",
    objective="supervised",
    rate=Rate(3e-5, 0.0),  # QED-Nano's; the paper gives none
    rows_per_step=32,
    warmup_share=0.1,
    options=(Option("succeeded", "Succeeded above", 0.5, help="Trajectories with a higher reward are imitated."),),
)


def rows(trajectories: Sequence[Trajectory], *, succeeded: float = 0.0) -> list[Row]:
    """Every turn with a readable action, of the trajectories whose reward is above `succeeded`.

    Raises `NothingToLearn` where no trajectory succeeded, `NotLearnable` for a reward that is NaN.
    """
    finite([one.reward for one in trajectories], "The rewards of trajectories")
    found = [
        row_of(one, place)
        for one in trajectories
        if one.reward > succeeded
        for place, turn in enumerate(one.turns)
        if not turn.invalid
    ]
    if not found:
        raise NothingToLearn(f"None of {len(trajectories)} trajectories succeeded, so there is nothing to imitate.")
    return found
