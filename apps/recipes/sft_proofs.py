"""QED-Nano's supervised start (§4.3): imitation of proofs.

As in the paper, the filter is only structural: proofs that were cut off or are empty are left out. Rewards do not matter, and
proofs without a verdict take part. The option `accepted` also filters by reward. One row per proof; tool text is masked.
"""

from collections.abc import Sequence

from apps.recipes.mathematics.arrays import NothingToLearn, finite
from apps.recipes.mathematics.rows import Row
from apps.recipes.options import Option
from apps.recipes.recipe import Rate, Training
from apps.recipes.trajectory import Trajectory, row_of

TRAINING = Training(
    name="sft_proofs",
    title="Supervised learning of proofs",
    source="QED-Nano §4.3",
    family="proofs",
    objective="supervised",
    rate=Rate(3e-5, 0.0),
    rows_per_step=32,
    warmup_share=0.1,
    options=(
        Option(
            "accepted",
            "Accepted above",
            None,
            help="Only proofs with a higher reward are imitated. Empty: all, as in the paper.",
        ),
    ),
)


def rows(trajectories: Sequence[Trajectory], *, accepted: float | None = None) -> list[Row]:
    """Last turn of each trajectory, unless it was cut off or is empty; with `accepted`, only of those with a higher reward.

    Raises `NothingToLearn` where none is left, with the numbers of proofs cut off and not accepted; `NotLearnable` for a reward
    of NaN.
    """
    finite([one.reward for one in trajectories], "The rewards of trajectories")
    found, cut, refused = [], 0, 0
    for trajectory in trajectories:
        last = trajectory.turns[-1]
        if accepted is not None and (not trajectory.is_judged or trajectory.reward <= accepted):
            refused += 1
        elif last.finish_reason != "stop" or not last.completion_ids:
            cut += 1
        else:
            found.append(row_of(trajectory, len(trajectory.turns) - 1))
    if not found:
        raise NothingToLearn(f"No proof to imitate: {refused} were not accepted, {cut} were cut off or empty.")
    return found
