"""What a recipe tells the trainer: which loss, the paper's settings, and what its rows must hold."""

from dataclasses import dataclass
from typing import Literal

from workers.learning.defaults import Rate, Rollouts
from workers.learning.losses import Clip
from workers.learning.oreal import OrealFactors

Objective = Literal["supervised", "clipped", "clipped_with_values", "oreal"]


@dataclass(frozen=True)
class Training:
    """The settings of one recipe. `rows_per_step` is a batch where the paper counts rows, None where it counts prompts."""

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
        """Ratios to the behaviour need what the behaviour's probabilities were."""
        return self.objective != "supervised"

    @property
    def needs_advantage(self) -> bool:
        """Supervised rows weigh alike; with a value head the trainer computes them from the rewards."""
        return self.objective in ("clipped", "oreal")

    @property
    def needs_reward(self) -> bool:
        """A value head makes advantages of rewards."""
        return self.objective == "clipped_with_values"
