"""Options of recipes that users may set, and those that several recipes share."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """One option of a recipe's `rows`: one of `choices`, or a number from 0 to `most` where `choices` is empty.

    A number whose default is None may be left empty.
    """

    name: str
    label: str
    default: str | float | None
    choices: tuple[str, ...] = ()
    help: str = ""
    most: float = 1000.0
    is_whole: bool = False


SCOPE = Option("scope", "Reward of a turn", "episode", ("episode", "turn"), "The episode's reward for all turns, or its own.")
BASELINE = Option("baseline", "Baseline", "trajectory", ("trajectory", "rows"), "Mean over trajectories, or over all turns.")
PENALTY = Option("penalty", "Penalty", 0.1, help="Subtracted from the reward of a turn with an unreadable action.")
PROMPTS = Option(
    "prompts", "Prompts", "all", ("all", "filtered"), "Filtered: without those that earn 0 % or at least 70 % of the marks."
)
UNREAD = Option(
    "unread", "Cut-off or unreadable answers", "zero", ("zero", "leave"), "Zero: they have reward 0. Leave: they are left out."
)
LENGTHS = (
    Option(
        "longest", "Longest turn", 0, help="In tokens; near it the reward falls by up to 1; 0 for no limit.", most=1e7,
        is_whole=True,
    ),
    Option("margin", "Margin", 0, help="Tokens over which it falls; 0 for a fifth of the longest.", most=1e7, is_whole=True),
)  # fmt: skip
#: Named like the parameters of `lemma_values` and `progress_advantages`. The first choice is ours where the paper is open.
ROUNDS = (
    Option(
        "credit", "Credit", "corrected", ("corrected", "printed", "trajectory"),
        "Eq. 6 corrected, Eq. 6 as printed, or plain RLOO.",
    ),
    Option("form", "Reward form", "logodds", ("logodds", "unit", "prob", "centred"), "Form of the conjugate reward."),
    Option("scope", "State after a round", "library", ("library", "round"), "Best lemma so far, or best of the round."),
    Option("gamma", "Discount of a round", 1.0, help="γ of Eq. 6, not given in the paper.", most=1.0),
    Option("weighting", "Weights of lemma uses", "counts", ("counts", "uniform"), "By frequency, or all equal."),
    Option("terminals", "Final proofs", "all", ("all", "nonzero"), "All proofs, or only those with a reward."),
    Option("keep", "Trajectories kept", "all", ("all", "pair"), "All per problem, or one right and one wrong."),
)  # fmt: skip
_IDLE = {"trajectory": ("scope", "gamma", "weighting", "terminals"), "printed": ("scope",)}


def without_effect(options: Mapping[str, object]) -> tuple[str, str] | None:
    """Option without effect under the chosen credit, with the reason; None where all have an effect."""
    credit = options.get("credit", "corrected")
    for option in ROUNDS:
        if option.name in _IDLE.get(str(credit), ()) and options.get(option.name, option.default) != option.default:
            return (
                option.name,
                f"This has no effect with the credit “{credit}”. Leave it at {option.default}, or choose another credit.",
            )
    return None
