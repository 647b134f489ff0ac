"""Rewards, choice of inputs and roles of MarsRL: Solver, Verifier and Corrector, trained together (§3.1–3.4).

Adaptive sampling, the paper's best strategy, can make the Verifier flag everything; its groups then have no variance and its
gradient vanishes. Therefore `rates` returns a verifier's two rates instead of one accuracy, and a cold start is needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from apps.recipes.mathematics.advantages import teaches
from apps.recipes.mathematics.arrays import NotLearnable

Strategy = Literal["random", "balanced", "adaptive"]
Role = Literal["solver", "verifier1", "corrector1", "verifier2", "corrector2"]
INPUTS_CHOSEN = 2
GROUP = 8


def solver_reward(answer_matches: bool) -> float:
    """1 where the answer agrees with the reference answer, else 0; the same for both Correctors."""
    return float(answer_matches)


def verifier_reward(solution_correct: bool, flagged: bool) -> float:
    """1 where exactly the wrong solutions are flagged: flagged XOR correct."""
    return float(flagged != solution_correct)


@dataclass(frozen=True)
class Output:
    """One output of the previous role: its reward and, for a Verifier's output, whether it reports errors."""

    reward: float
    flagged: bool = False


def choose_inputs(
    outputs: Sequence[Output], role: Role, *, strategy: Strategy, random: Random, wanted: int = INPUTS_CHOSEN
) -> list[int]:
    """Indices of at most `wanted` outputs that become inputs of the next role.

    A Corrector gets flagged outputs only; without any the problem ends. `random`: any outputs. `balanced`: half of reward 1,
    half of reward 0, filled up from the other kind. `adaptive`: reward 0 first for a Verifier, reward 1 first for a Corrector.
    Ties are broken at random. Raises `NotLearnable` for the Solver, whose inputs are problems.
    """
    if role == "solver":
        raise NotLearnable("The inputs of the Solver are problems, not another role's outputs.")
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
    """Rates of a Verifier: `found` (TPR), wrong solutions flagged; `spared` (TNR), right ones passed. None: no solutions."""

    found: float | None
    spared: float | None
    silent_groups: float


def rates(groups: Sequence[Sequence[tuple[bool, bool]]]) -> VerifierRates:
    """Rates over groups of (solution correct, flagged), with the share of silent groups."""
    judged = [pair for group in groups for pair in group]
    wrong = [flagged for correct, flagged in judged if not correct]
    right = [not flagged for correct, flagged in judged if correct]
    silent = sum(not teaches([verifier_reward(*pair) for pair in group]) for group in groups)
    return VerifierRates(
        sum(wrong) / len(wrong) if wrong else None,
        sum(right) / len(right) if right else None,
        silent / len(groups) if groups else 0.0,
    )
