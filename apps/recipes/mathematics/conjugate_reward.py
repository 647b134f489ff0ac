"""The conjugate reward of k passes in n votes (Intern-S1-MO §4.3.2, Eq. 7 and 8).

The posterior of the solution is Beta(k+1, n−k+1), that of a baseline that failed every vote Beta(1, n+1). Eq. 8 prints the
probability P that the first exceeds the second. The surrounding text ("R(4,4) ≈ 5.5", "R(0,4) = 0") and Algorithm 1's terminals
"where R ≠ 0" fit the natural log-odds ln(P/(1−P)) and no other form we tried, so that is the default. The other forms have
names. (The dominance of R(4,4) is 251/252 = 99.6 %; the text says 99.5 %.)
"""

from collections.abc import Sequence
from fractions import Fraction
from math import comb, log
from typing import Literal

from apps.recipes.mathematics.arrays import NotLearnable

Form = Literal["logodds", "unit", "prob", "centred"]
DEFAULT_VOTES = 4


def dominance(passes: int, votes: int) -> Fraction:
    """P(k, n) of Eq. 8, exactly: 1 − C(n+1, k+1) / C(2n+2, k+1). Raises `NotLearnable` unless 0 ≤ k ≤ n and n ≥ 1."""
    if votes < 1 or not 0 <= passes <= votes:
        raise NotLearnable(f"{passes} passes in {votes} votes: a reward needs at least one vote and no more passes than votes.")
    return 1 - Fraction(comb(votes + 1, passes + 1), comb(2 * votes + 2, passes + 1))


def conjugate_reward(
    passes: int, votes: int = DEFAULT_VOTES, *, answer_ok: bool | None = None, form: Form = "logodds"
) -> float:
    """Reward of a solution that passed `passes` of `votes` checks.

    `logodds` is ln(P/(1−P)), from 0 for no pass to `highest_reward(votes)`; `unit` is that divided by its maximum; `prob` is P
    as printed; `centred` is 2P−1. A final answer known to be wrong (`answer_ok=False`) gives 0 in every form (§4.2).
    """
    share = dominance(passes, votes)
    if answer_ok is False:
        return 0.0
    if form == "prob":
        return float(share)
    if form == "centred":
        return float(2 * share - 1)
    lost = 1 - share
    odds = log(share.numerator * lost.denominator) - log(share.denominator * lost.numerator)
    return odds / highest_reward(votes) if form == "unit" else odds


def highest_reward(votes: int = DEFAULT_VOTES) -> float:
    """Log-odds of a solution that passed every vote: ln(C(2n+2, n+1) − 1)."""
    return conjugate_reward(votes, votes)


def group_conjugate_rewards(verdicts: Sequence[tuple[int, int]], *, form: Form = "logodds") -> list[float]:
    """Rewards of one group of (passes, votes).

    Raises `NotLearnable` where the numbers of votes differ: each has its own scale, and advantages must not mix them.
    """
    sizes = sorted({votes for _, votes in verdicts})
    if len(sizes) > 1:
        raise NotLearnable(
            f"One group has verdicts of {', '.join(map(str, sizes))} votes; their rewards have different scales."
        )
    return [conjugate_reward(passes, votes, form=form) for passes, votes in verdicts]
