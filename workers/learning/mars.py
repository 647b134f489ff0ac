"""Rewards, choice of inputs and roles of MarsRL: Solver, Verifier and Corrector, trained together (§3.1–3.4).

Adaptive sampling, the paper's best, can drive the Verifier to flag everything; its groups then have no variance and its
gradient is gone. So `rates` gives a verifier's two rates apart, never one accuracy, and a cold start is needed before.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from workers.learning.advantages import teaches
from workers.learning.arrays import NotLearnable

Strategy = Literal["random", "balanced", "adaptive"]
Role = Literal["solver", "verifier1", "corrector1", "verifier2", "corrector2"]
ROLES: tuple[Role, ...] = ("solver", "verifier1", "corrector1", "verifier2", "corrector2")
INPUTS_CHOSEN = 2
GROUP = 8


def solver_reward(answer_matches: bool) -> float:
    """1 where the answer agrees with the reference answer, else 0; the same for both Correctors."""
    return float(answer_matches)


def verifier_reward(solution_correct: bool, flagged: bool) -> float:
    """1 where exactly the wrong solutions are flagged: flagged XOR correct."""
    return float(flagged != solution_correct)


def role_at(step: int) -> Role:
    """The role of a step, counted from 1. From step 6 on Verifier 2 and Corrector 2 take turns (inference only)."""
    if step < 1:
        raise NotLearnable(f"Step {step}: steps are counted from 1.")
    return ROLES[step - 1] if step <= len(ROLES) else ROLES[3 + step % 2]


@dataclass(frozen=True)
class Output:
    """One output of the role before: its reward, and for a Verifier's whether it reports errors."""

    reward: float
    flagged: bool = False


def choose_inputs(
    outputs: Sequence[Output], role: Role, *, strategy: Strategy, random: Random, wanted: int = INPUTS_CHOSEN
) -> list[int]:
    """The places of the outputs that the next role works on, `wanted` of them per problem or as many as there are.

    A Corrector takes flagged outputs only; none means that the problem ends here. `random`: any. `balanced`: half of reward 1,
    half of reward 0, filled up from the other kind. `adaptive`: a Verifier takes reward 0 first, a Corrector reward 1. Ties
    are drawn at random. Raises `NotLearnable` for the Solver, who works on problems.
    """
    if role == "solver":
        raise NotLearnable("The Solver works on problems, not on another role's outputs.")
    corrects = role.startswith("corrector")
    open_ = [index for index, output in enumerate(outputs) if output.flagged or not corrects]
    random.shuffle(open_)
    if strategy == "adaptive":
        open_.sort(key=lambda index: (outputs[index].reward > 0) != corrects)
    elif strategy == "balanced":
        open_ = _alternating(open_, outputs)
    return open_[:wanted]


def _alternating(order: list[int], outputs: Sequence[Output]) -> list[int]:
    kinds = [[index for index in order if (outputs[index].reward > 0) == good] for good in (True, False)]
    if order and outputs[order[0]].reward <= 0:
        kinds.reverse()
    shorter = min(map(len, kinds))
    paired = [index for pair in zip(*kinds, strict=False) for index in pair]
    return paired + kinds[0][shorter:] + kinds[1][shorter:]


@dataclass(frozen=True)
class VerifierRates:
    """How a Verifier judges: `found` (TPR), wrong solutions flagged; `spared` (TNR), right ones left alone. None: no such."""

    found: float | None
    spared: float | None
    silent_groups: float


def rates(groups: Sequence[Sequence[tuple[bool, bool]]]) -> VerifierRates:
    """The rates over groups of (solution correct, flagged), with the share of groups whose rewards are all alike."""
    judged = [pair for group in groups for pair in group]
    wrong = [flagged for correct, flagged in judged if not correct]
    right = [not flagged for correct, flagged in judged if correct]
    silent = sum(not teaches([verifier_reward(*pair) for pair in group]) for group in groups)
    return VerifierRates(
        sum(wrong) / len(wrong) if wrong else None,
        sum(right) / len(right) if right else None,
        silent / len(groups) if groups else 0.0,
    )
