"""Rules of verdicts: passes, streaks, and the confidence of votes with its interval.

Source of the confidence: Intern-S1-MO §3 (arXiv 2512.10739): parallel votes per lemma; a vote names the first wrong step or
none. The interval is Wilson's 95 % score interval, which is reliable for the small n used here (4 or 8 votes).
"""

import math
from collections.abc import Iterable
from typing import Literal

from apps.reasoning.domain.values import Unscored, Value

NO_FAULT = -1
#: A fault outside all steps: the verifier names a step or a lemma that does not exist. The vote still counts as a fail.
UNPLACED = 0
_FAULTS = frozenset({"critical", "gap"})
_Z95 = 1.959963984540054


def counts_as_pass(said_pass: bool, severities: Iterable[str]) -> bool:
    """Decide whether a verdict counts as a pass; the same rule for every reader.

    A "fail" is always a fail. A "pass" counts unless the verifier also reports a critical error or a gap.
    """
    return said_pass and _FAULTS.isdisjoint(severities)


class Streaks(Value):
    """Consecutive passes and consecutive failures up to a check; at most one of the two is positive."""

    passes: int = 0
    failures: int = 0

    def after(self, passed: bool | None) -> "Streaks":
        """Return the streaks after one more check. An unreadable check (None) resets both."""
        if passed is None:
            return Streaks()
        return Streaks(passes=self.passes + 1) if passed else Streaks(failures=self.failures + 1)


class StepCheck(Value):
    """A verifier's remark on one step. `step` counts from 1."""

    step: int
    sound: bool
    comment: str = ""
    severity: Literal["critical", "gap", "note", ""] = ""


class Vote(Value):
    """One verifier call's judgement of a lemma or proof.

    `first_fault` is the number (from 1) of the first wrong step, `NO_FAULT` or `UNPLACED`. `wrong_lemma` names a lemma that a
    process verifier found wrong. An unreadable vote carries `unscored` and does not count.
    """

    first_fault: int | None = None
    wrong_lemma: str = ""
    checks: tuple[StepCheck, ...] = ()
    summary: str = ""
    unscored: Unscored | None = None

    @property
    def is_valid(self) -> bool:
        return self.unscored is None and (self.first_fault is not None or bool(self.wrong_lemma))

    @property
    def is_pass(self) -> bool:
        return self.is_valid and self.first_fault == NO_FAULT and not self.wrong_lemma


class Confidence(Value):
    """Share of passing votes among valid votes or, with `of_all`, among all requested votes, with Wilson's 95 % interval."""

    passes: int
    valid: int
    total: int
    low: float
    high: float
    of_all: bool = False

    @property
    def of(self) -> int:
        """The denominator of the share."""
        return self.total if self.of_all else self.valid

    @property
    def share(self) -> float:
        return self.passes / self.of


def aggregate(votes: tuple[Vote, ...], *, of_all: bool = False) -> Confidence | Unscored:
    """Compute a confidence from votes; `Unscored` if no vote is readable (Intern-S1-MO §3; reasoning notes §1 step 3).

    `of_all`: the proportion of all requested votes that find no fault, as in the paper; unreadable votes are not passes.
    """
    valid = [vote for vote in votes if vote.is_valid]
    if not votes:
        return Unscored(reason="not verified")
    if not valid:
        return Unscored(reason=f"none of {len(votes)} votes could be read")
    passes = sum(vote.is_pass for vote in valid)
    low, high = wilson_interval(passes, len(votes) if of_all else len(valid))
    return Confidence(passes=passes, valid=len(valid), total=len(votes), low=low, high=high, of_all=of_all)


def wilson_interval(passes: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % score interval for `passes` of `n` (n ≥ 1), clipped to [0, 1]."""
    share = passes / n
    z2 = _Z95 * _Z95
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z95 * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, centre - half), min(1.0, centre + half)
