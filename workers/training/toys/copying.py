"""Copy a digit: the prompt is `7=`, and the completion is right if it is 7. One turn, eight attempts per prompt."""

from collections.abc import Sequence

import numpy as np

from apps.recipes.trajectory import Trajectory, Turn
from workers.training.policy import Policy

GROUP = 8


class CopyToy:
    """Rewards: 1 for the digit, 0.1 for another digit, 0 for anything else."""

    def __init__(self) -> None:
        self._solved = 0.0

    def rollouts(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """`rows` attempts in groups of eight, at new random digits."""
        digits = [str(digit) for digit in random.integers(0, 10, max(1, rows // GROUP)) for _ in range(GROUP)]
        prompts = [policy.encode(f"{digit}=") for digit in digits]
        drawn = policy.draw(prompts, most=1)
        texts = [policy.text(one.ids) for one in drawn]
        self._solved = float(np.mean([text == digit for text, digit in zip(texts, digits, strict=True)]))
        return [
            Trajectory(
                id=f"{policy.version}-{number}",
                problem_id=f"{policy.version}-{number // GROUP}",
                reward=_reward(text, digit),
                turns=[Turn(prompt, one.ids, logprobs=one.logprobs, policy_version=policy.version)],
            )
            for number, (prompt, one, text, digit) in enumerate(zip(prompts, drawn, texts, digits, strict=True))
        ]

    def demonstrations(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """Correct copies."""
        return [_shown(policy, number, str(digit)) for number, digit in enumerate(random.integers(0, 10, rows))]

    def measures(self) -> dict[str, float]:
        """`solved`: share of correct attempts."""
        return {"solved": self._solved}


def _reward(text: str, digit: str) -> float:
    return 1.0 if text == digit else 0.1 if text.isdecimal() else 0.0


def _shown(policy: Policy, number: int, digit: str) -> Trajectory:
    turns: Sequence[Turn] = [Turn(policy.encode(f"{digit}="), policy.encode(digit))]
    return Trajectory(id=str(number), problem_id=digit, turns=turns, reward=1.0)
