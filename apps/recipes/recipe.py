"""Settings that a recipe gives the trainer: its loss, the paper's values, and the required columns of its rows."""

from dataclasses import dataclass
from typing import Literal

from apps.recipes.mathematics.defaults import Rate, Rollouts
from apps.recipes.mathematics.losses import Clip
from apps.recipes.mathematics.oreal import OrealFactors

Objective = Literal["supervised", "clipped", "clipped_with_values", "oreal"]


@dataclass(frozen=True)
class Training:
    """Settings of one recipe. `rows_per_step`: the paper's batch where it counts rows, else a default of ours."""

    name: str
    title: str
    source: str
    objective: Objective
    rate: Rate
    rollouts: Rollouts | None = None
    loss: Clip | OrealFactors | None = None
    rows_per_step: int = 64
    gradient_clip: float = 1.0
    weight_decay: float = 0.0
    entropy_bonus: float = 0.0
    most_lag: int | None = None
    epochs: int | None = None
    warmup_share: float = 0.0

    @property
    def needs_logprobs(self) -> bool:
        """Whether rows need log-probabilities, for ratios to the behaviour policy."""
        return self.objective != "supervised"

    @property
    def needs_advantage(self) -> bool:
        """Whether rows need an advantage; supervised rows have equal weights, and a value head computes its own."""
        return self.objective in ("clipped", "oreal")

    @property
    def needs_reward(self) -> bool:
        """Whether rows need a reward, from which a value head computes advantages."""
        return self.objective == "clipped_with_values"
