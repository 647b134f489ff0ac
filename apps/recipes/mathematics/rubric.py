"""QED-Nano's rewards from rubric grades, and its choice of prompts."""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Literal, TypeVar

from apps.recipes.mathematics.arrays import NothingToLearn, NotLearnable

Prompts = Literal["all", "filtered"]
GroupT = TypeVar("GroupT")

FULL_MARKS = 7
TOO_EASY = 0.7


def rubric_reward(grade: float, *, full: float = FULL_MARKS) -> float:
    """grade / full marks, in [0, 1]. Raises `NotLearnable` for a grade outside the rubric, including NaN."""
    if not 0 <= grade <= full:
        raise NotLearnable(f"A grade of {grade} is not between 0 and {full}.")
    return grade / full


def keeps_prompt(pass_rate: float, *, too_easy: float = TOO_EASY) -> bool:
    """Whether to keep a prompt: the base model solves it sometimes, but in fewer than 70 % of its attempts."""
    return 0 < pass_rate < too_easy


def prompts_kept(prompts: Iterable[tuple[GroupT, Sequence[float]]], which: Prompts) -> list[GroupT]:
    """Prompts to train on, of prompts with the rewards (0 to 1) of all their attempts.

    The pass rate of graded attempts is the mean of their rewards; the paper does not define a pass. Raises `NothingToLearn`
    where every prompt is left out.
    """
    given = list(prompts)
    kept = [prompt for prompt, rewards in given if which == "all" or keeps_prompt(fmean(rewards))]
    if given and not kept:
        rates = ", ".join(f"{fmean(rewards):.0%}" for _, rewards in given[:3])
        raise NothingToLearn(
            f"The attempts earned {rates} of the marks; kept prompts earn more than 0 and less than {TOO_EASY:.0%}."
        )
    return kept
