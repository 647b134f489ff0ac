"""The ten recipes as the application knows them: what each needs, and which options users may set.

`apps/recipes/` has the algorithms; a test compares the two lists.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Family = Literal["proofs", "turns", "rounds", "agents", "states"]
Judge = Literal["verifiers", "answer"]
JUDGES: tuple[tuple[Judge, str], ...] = (
    ("verifiers", "share of passes or points from the run's own verifiers"),
    ("answer", "agreement of the final answer with the problem's answer"),
)


@dataclass(frozen=True)
class Option:
    """One option of a recipe's `rows`: one of `choices`, or a number from 0 to `most` where `choices` is empty."""

    name: str
    label: str
    default: str | float
    choices: tuple[str, ...] = ()
    help: str = ""
    most: float = 1000.0
    is_whole: bool = False


@dataclass(frozen=True)
class Recipe:
    """One algorithm. `family`: which part of a run is a trajectory; `scale`: the reward of full marks."""

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
        """Whether turns may be graded individually, so that each needs a reward."""
        return any(option.name == "scope" and "turn" in option.choices for option in self.options)


_SCOPE = Option("scope", "Reward of a turn", "episode", ("episode", "turn"), "The episode's reward for all turns, or its own.")
_BASELINE = Option("baseline", "Baseline", "trajectory", ("trajectory", "rows"), "Mean over trajectories, or over all turns.")
_PENALTY = Option("penalty", "Penalty", 0.1, help="Subtracted from the reward of a turn with an unreadable action.")
_CREDIT = Option(
    "credit", "Credit", "corrected", ("corrected", "printed", "trajectory"), "Eq. 6 corrected, Eq. 6 as printed, or plain RLOO."
)
_FORM = Option("form", "Reward form", "logodds", ("logodds", "unit", "prob", "centred"), "Form of the conjugate reward.")
#: Named like the parameters of `lemma_values` and `progress_advantages`. The first choice is ours where the paper is open.
_ROUNDS = (
    Option("scope", "State after a round", "library", ("library", "round"), "Best lemma so far, or best of the round."),
    Option("gamma", "Discount of a round", 1.0, help="γ of Eq. 6, not given in the paper.", most=1.0),
    Option("weighting", "Weights of lemma uses", "counts", ("counts", "uniform"), "By frequency, or all equal."),
    Option("terminals", "Final proofs", "all", ("all", "nonzero"), "All proofs, or only those with a reward."),
    Option("keep", "Trajectories kept", "all", ("all", "pair"), "All per problem, or one right and one wrong."),
)
_LENGTHS = (
    Option(
        "longest",
        "Longest turn",
        0,
        help="In tokens; near it the reward falls by up to 1; 0 for no limit.",
        most=1e7,
        is_whole=True,
    ),
    Option("margin", "Margin", 0, help="Tokens over which it falls; 0 for a fifth of the longest.", most=1e7, is_whole=True),
)
_PROMPTS = Option(
    "prompts", "Prompts", "all", ("all", "filtered"), "Filtered: without those that earn 0 % or at least 70 % of the marks."
)

RECIPES = {
    one.name: one
    for one in (
        Recipe(
            "sft_proofs", "Supervised learning of proofs", "QED-Nano §3", "proofs", True,
            options=(Option("accepted", "Accepted above", 0.5, help="Proofs with a higher reward are imitated."),),
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
            options=(Option("succeeded", "Succeeded above", 0.5, help="Trajectories with a higher reward are imitated."),),
        ),
        Recipe("orealh", "OREAL-H", "Intern-S1-MO §4.3", "rounds", False, options=(_CREDIT, _FORM, *_ROUNDS)),
        Recipe("orealh_cold_start", "Cold start of OREAL-H", "Intern-S1-MO §4.2", "rounds", True),
        Recipe("marsrl", "MarsRL", "MarsRL §3", "agents", False),
    )
}  # fmt: skip


def without_effect(options: Mapping[str, object]) -> tuple[str, str] | None:
    """Option without effect under the chosen credit, with the reason; None where all have an effect."""
    credit = options.get("credit", "corrected")
    idle = {"trajectory": ("scope", "gamma", "weighting", "terminals"), "printed": ("scope",)}.get(str(credit), ())
    for option in _ROUNDS:
        if option.name in idle and options.get(option.name, option.default) != option.default:
            return (
                option.name,
                f"This has no effect with the credit “{credit}”. Leave it at {option.default}, or choose another credit.",
            )
    return None
