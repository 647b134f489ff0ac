"""The ten recipes as the application knows them: what each needs, and which of its options people may set.

`workers/recipes/` has the algorithms; a test compares the two lists.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Family = Literal["proofs", "turns", "rounds", "agents", "states"]
Judge = Literal["verifiers", "answer"]
JUDGES: tuple[tuple[Judge, str], ...] = (
    ("verifiers", "the share of passes or points that the run's own verifiers gave"),
    ("answer", "whether the final answer is the problem's answer"),
)


@dataclass(frozen=True)
class Option:
    """One option of a recipe's `rows`: a choice of words, or a number from 0 to `most` (`choices` empty)."""

    name: str
    label: str
    default: str | float
    choices: tuple[str, ...] = ()
    help: str = ""
    most: float = 1000.0
    is_whole: bool = False


@dataclass(frozen=True)
class Recipe:
    """One algorithm. `family` says what of a run is a trajectory; `scale` what full marks are worth as a reward."""

    name: str
    title: str
    source: str
    family: Family
    is_supervised: bool
    scale: float = 1.0
    fresh_only: bool = False
    options: tuple[Option, ...] = ()

    @property
    def grades_turns(self) -> bool:
        """Whether a turn may be graded by itself, so that each needs a reward."""
        return any(option.name == "scope" and "turn" in option.choices for option in self.options)


_SCOPE = Option("scope", "Reward of a turn", "episode", ("episode", "turn"), "The episode's for all turns, or its own.")
_BASELINE = Option(
    "baseline", "Baseline", "trajectory", ("trajectory", "rows"), "The mean over trajectories, or over all turns."
)
_PENALTY = Option("penalty", "Penalty", 0.1, help="Taken from the reward of a turn whose action could not be read.")
_CREDIT = Option(
    "credit", "Credit", "corrected", ("corrected", "printed", "trajectory"), "Eq. 6 corrected or as printed, or plain RLOO."
)
_FORM = Option("form", "Reward", "logodds", ("logodds", "unit", "prob", "centred"), "The form of the conjugate reward.")
#: By the names of `lemma_values` and `progress_advantages`; the first of each is our choice where the paper is open.
_ROUNDS = (
    Option("scope", "State after a round", "library", ("library", "round"), "Its best lemma: of all so far, or of the round."),
    Option("gamma", "Discount of a round", 1.0, help="γ of Eq. 6, which the paper does not give.", most=1.0),
    Option("weighting", "Ways on from a lemma", "counts", ("counts", "uniform"), "By how often they were taken, or all alike."),
    Option("terminals", "Proofs that count", "all", ("all", "nonzero"), "Failed ones too, or only those with a reward."),
    Option("keep", "Trajectories learned from", "all", ("all", "pair"), "All of a problem, or one right and one wrong."),
)
_LENGTHS = (
    Option(
        "longest",
        "Longest turn",
        0,
        help="Tokens; towards it answers lose up to 1. 0: never.",
        most=1e7,
        is_whole=True,
    ),
    Option("margin", "Margin", 0, help="Tokens before the longest over which it falls. 0: a fifth.", most=1e7, is_whole=True),
)
_PROMPTS = Option(
    "prompts", "Prompts", "all", ("all", "filtered"), "Filtered: without those that earn 70 % of the marks or nothing."
)

RECIPES = {
    one.name: one
    for one in (
        Recipe(
            "sft_proofs", "Supervised learning of proofs", "QED-Nano §3", "proofs", True,
            options=(Option("accepted", "Accepted above", 0.5, help="A proof whose reward is above this is imitated."),),
        ),
        Recipe(
            "grpo_rubric", "GRPO with rubric grades", "QED-Nano §4.1", "proofs", False, scale=7.0, fresh_only=True,
            options=(_PROMPTS,),
        ),
        Recipe("rc_rl", "GRPO over a reasoning cache", "QED-Nano §4.2", "states", False, scale=7.0, options=(_PROMPTS,)),
        Recipe("turn_grpo", "GRPO over turns", "AlphaApollo §2.2", "turns", False, options=(_SCOPE, _BASELINE, _PENALTY)),
        Recipe(
            "turn_dapo", "DAPO over turns", "AlphaApollo §2.2; DAPO", "turns", False,
            options=(_BASELINE, _PENALTY, *_LENGTHS),
        ),
        Recipe("turn_ppo", "PPO over turns", "AlphaApollo §2.2", "turns", False, options=(_SCOPE, _PENALTY)),
        Recipe(
            "turn_sft", "Supervised learning of turns", "AlphaApollo §2.2", "turns", True,
            options=(Option("succeeded", "Succeeded above", 0.5, help="Trajectories whose reward is above this count."),),
        ),
        Recipe("orealh", "OREAL-H", "Intern-S1-MO §4.3", "rounds", False, options=(_CREDIT, _FORM, *_ROUNDS)),
        Recipe("orealh_cold_start", "Cold start of OREAL-H", "Intern-S1-MO §4.2", "rounds", True),
        Recipe("marsrl", "MarsRL", "MarsRL §3", "agents", False),
    )
}  # fmt: skip


def without_effect(options: Mapping[str, object]) -> tuple[str, str] | None:
    """The option that changes nothing beside the credit that was chosen, and why; None where all have an effect."""
    credit = options.get("credit", "corrected")
    idle = {"trajectory": ("scope", "gamma", "weighting", "terminals"), "printed": ("scope",)}.get(str(credit), ())
    for option in _ROUNDS:
        if option.name in idle and options.get(option.name, option.default) != option.default:
            return (
                option.name,
                f"Credit “{credit}” does not look at it; leave it at {option.default} or choose another.",
            )
    return None
