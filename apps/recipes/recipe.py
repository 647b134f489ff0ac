"""The declaration of a recipe: its source, loss and settings from the paper, what it needs, and its options.

Forms, datasets, the export of rows and the trainer all read it. Values that no source gives are marked `chosen`;
`docs/learning.md` gives the reasons. Lengths are in tokens.
"""

from dataclasses import dataclass
from typing import Any, Literal

from apps.recipes.mathematics.losses import Aggregation, Clip, OrealFactors
from apps.recipes.options import Option

Objective = Literal["supervised", "clipped", "clipped_with_values", "oreal"]
Family = Literal["proofs", "turns", "rounds", "agents", "states"]


#: Chosen for OREAL's negative rows: the cap of dual-clip PPO. On policy, all ratios are 1.
RATIO_CAP = 3.0


@dataclass(frozen=True)
class Rollouts:
    """Sampling of answers for training: `group` answers to each of `prompts` prompts per step."""

    prompts: int
    group: int
    temperature: float
    top_p: float = 1.0  # chosen: a lower value changes the behaviour's distribution
    new_tokens: int | None = None


@dataclass(frozen=True)
class Rate:
    """Learning rate from `first` to `last` along a cosine; equal where it is constant."""

    first: float
    last: float
    warmup_steps: int = 0


@dataclass(frozen=True)
class LossSettings:
    """Settings of any loss: the first part is for clipped losses, the second for OREAL's.

    `ratio_cap`: highest ratio of a token with a negative advantage (dual-clip PPO). `correction_cap`: highest weight of
    truncated importance sampling, for `old` recompute. `mask_above`: mean log-ratio from which rows of negative advantage are
    left out.
    """

    low: float = 0.2
    high: float = 0.2
    beta: float = 0.0
    aggregation: Aggregation = "token"
    longest: int | None = None
    entropy_bonus: float = 0.0
    mastered_below: float | None = None
    positive: float = 1.0
    negative: float = 0.5
    token_rm: bool = False
    old: Literal["stored", "recompute"] = "stored"
    ratio_cap: float | None = None
    correction_cap: float | None = None
    mask_above: float | None = None


#: Settings of `loss` that limit rows of other policies; supervised recipes have none.
LOSS_LIMITS = ("ratio_cap", "correction_cap", "mask_above")
_CLIPPED = ("beta", "low", "high", *LOSS_LIMITS, "aggregation", "longest", "entropy_bonus", "mastered_below", "old")
#: Settings of `loss` that each objective uses; all others have no effect.
LOSS_USED: dict[Objective, tuple[str, ...]] = {
    "clipped": _CLIPPED,
    "clipped_with_values": _CLIPPED,
    "oreal": ("beta", *LOSS_LIMITS, "positive", "negative", "token_rm", "old"),
    "supervised": (),
}


@dataclass(frozen=True)
class Training:
    """One recipe.

    `family`: which part of a run is a trajectory. `scale`: the reward of full marks. `fresh_only`: learns only from answers of
    the policy itself. `rows_per_step`: the paper's batch where it counts rows, else a default of ours.
    """

    name: str
    title: str
    source: str
    family: Family
    objective: Objective
    rate: Rate
    rollouts: Rollouts | None = None
    loss: Clip | OrealFactors | None = None
    rows_per_step: int = 64
    gradient_clip: float = 1.0
    weight_decay: float = 0.0
    entropy_bonus: float = 0.0
    most_lag: int | None = None
    warmup_share: float = 0.0
    scale: float = 1.0
    fresh_only: bool = False
    options: tuple[Option, ...] = ()

    @property
    def is_supervised(self) -> bool:
        """Whether it imitates given answers."""
        return self.objective == "supervised"

    @property
    def grades_turns(self) -> bool:
        """Whether turns may be graded individually, so that each needs a reward."""
        return any(option.name == "scope" and "turn" in option.choices for option in self.options)

    @property
    def temperature(self) -> float | None:
        """The temperature of its rollouts; None without rollouts."""
        return self.rollouts.temperature if self.rollouts else None

    @property
    def needs_logprobs(self) -> bool:
        """Whether rows need log-probabilities, for ratios to the behaviour policy."""
        return not self.is_supervised

    @property
    def needs_advantage(self) -> bool:
        """Whether rows need an advantage; supervised rows have equal weights, and a value head computes its own."""
        return self.objective in ("clipped", "oreal")

    @property
    def needs_reward(self) -> bool:
        """Whether rows need a reward, from which a value head computes advantages."""
        return self.objective == "clipped_with_values"

    @property
    def loss_settings(self) -> LossSettings:
        """The paper's values for `loss` in `config.json`."""
        loss = self.loss
        if isinstance(loss, Clip):
            return LossSettings(
                loss.low, loss.high, loss.beta, loss.aggregation, loss.longest, entropy_bonus=self.entropy_bonus
            )
        if isinstance(loss, OrealFactors):
            return LossSettings(beta=loss.beta, positive=loss.positive, negative=loss.negative, ratio_cap=RATIO_CAP)
        return LossSettings()

    def settings(self, steps: int) -> dict[str, Any]:
        """The paper's values of `config.json` for a job of `steps` steps, without the loss."""
        return {
            "rows_per_step": self.rows_per_step,
            "learning_rate": self.rate.first,
            "last_learning_rate": self.rate.last,
            "warmup_steps": self.rate.warmup_steps or int(self.warmup_share * steps),
            "gradient_clip": self.gradient_clip,
            "weight_decay": self.weight_decay,
            "most_lag": self.most_lag,
        }
