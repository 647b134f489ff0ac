"""Settings of each algorithm from the papers and their released code, with sources.

Values that no source gives are marked `chosen`; `docs/learning.md` gives the reasons. Lengths are in tokens.
"""

from dataclasses import dataclass

from apps.recipes.mathematics.losses import Clip, OrealFactors


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
class Recipe:
    """One algorithm: rollouts, learning rate and loss."""

    rollouts: Rollouts
    rate: Rate
    loss: Clip | OrealFactors
    most_lag: int | None = None
    gradient_clip: float | None = None
    entropy_bonus: float = 0.0


OREAL_WEIGHT_DECAY = 0.01
OREAL_H = Recipe(  # Intern-S1-MO, experiments
    rollouts=Rollouts(prompts=64, group=16, temperature=1.0, new_tokens=65_536),  # temperature: OREAL's
    rate=Rate(5e-7, 1e-7),
    loss=OrealFactors(),
)
TURN_GRPO = Recipe(  # AlphaApollo §2.2 and its code; KL from the code
    rollouts=Rollouts(prompts=128, group=8, temperature=1.0),  # chosen: the code's 0.4 is the temperature of validation
    rate=Rate(1e-6, 1e-6),
    loss=Clip(beta=0.01, aggregation="token"),
)
DAPO = Clip(low=0.2, high=0.28, beta=0.0, aggregation="token")
QED_NANO = Recipe(  # QED-Nano §4.1 and its released configuration
    rollouts=Rollouts(prompts=64, group=16, temperature=0.8, new_tokens=49_152),
    rate=Rate(1e-6, 1e-6),
    loss=Clip(low=4.0, high=4.0, aggregation="sum"),
    most_lag=5,
    gradient_clip=0.3,
    entropy_bonus=1e-4,
)
MARS = Recipe(  # MarsRL §4.1; rate from its repository's PDF
    rollouts=Rollouts(prompts=128, group=8, temperature=0.85, new_tokens=65_536),
    rate=Rate(1e-6, 1e-6),
    loss=DAPO,  # chosen: the paper gives neither clip nor KL
)
