"""QED-Nano's supervised start (§3): learn to write as the accepted proofs were written.

Structural filter only, as in the paper: a proof that was cut off or is empty is left out, nothing is judged again. One row a
proof; tool text stays masked.
"""

from collections.abc import Sequence

from workers.learning.arrays import NothingToLearn, finite
from workers.learning.defaults import Rate
from workers.learning.rows import Row
from workers.recipes.recipe import Training
from workers.recipes.trajectory import Trajectory, row_of

TRAINING = Training(
    name="sft_proofs",
    title="Supervised learning of proofs",
    source="QED-Nano §3",
    objective="supervised",
    rate=Rate(3e-5, 0.0),
    rows_per_step=32,
    epochs=5,
    warmup_share=0.1,
)


def rows(trajectories: Sequence[Trajectory], *, accepted: float = 0.0) -> list[Row]:
    """The last turn of each trajectory whose reward is above `accepted` and whose text ended by itself.

    Raises `NothingToLearn` where none is left, with how many were cut off and how many were not accepted, `NotLearnable` for a
    reward that is NaN.
    """
    finite([one.reward for one in trajectories], "The rewards of trajectories")
    found, cut, refused = [], 0, 0
    for trajectory in trajectories:
        last = trajectory.turns[-1]
        if trajectory.reward <= accepted:
            refused += 1
        elif last.finish_reason != "stop" or not last.completion_ids:
            cut += 1
        else:
            found.append(row_of(trajectory, len(trajectory.turns) - 1))
    if not found:
        raise NothingToLearn(f"No proof to imitate: {refused} were not accepted, {cut} were cut off or empty.")
    return found
