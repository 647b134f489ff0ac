"""A chain of three lemmas: each can be found only after the one before, and the answer is proven only by the third.

Four rounds, then the answer. `2;g?` asks for the next lemma of problem 2 when the library holds g; a letter is valid when it is
the next of the problem's chain, or one of x, y, z, which are true and lead nowhere. `2;ghi!` asks for the answer. The final
proof uses the furthest lemma of the chain, also where that proves nothing. Four votes judge it; each errs in one of twenty.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from workers.recipes.orealh import group_rewards, values_of
from workers.recipes.trajectory import Trajectory, Turn
from workers.training.policy import Drawn, Policy

GROUP = 16
ROUNDS = 4
CHAIN = 3
PROBLEMS = 5
SIDE = "xyz"
LETTERS = "abcdefghijklmno"
VOTES, ERRS = 4, 0.05
TEACHER = (0.5, 0.25)  # how often a demonstrated round finds the next lemma, and how often one that leads nowhere
TEACHER_ANSWERS = 0.8


@dataclass
class _Attempt:
    """An attempt under way."""

    group: int
    problem: int
    library: str = ""
    said: list[tuple[str, str, Drawn]] = field(default_factory=list)

    @property
    def chain(self) -> str:
        """The lemmas that lead to the answer."""
        return LETTERS[CHAIN * self.problem : CHAIN * (self.problem + 1)]

    @property
    def next(self) -> str:
        """The lemma that can be found now; nothing once the chain is whole."""
        return next((letter for letter in self.chain if letter not in self.library), "")

    def prompt(self, sign: str) -> str:
        """`?` asks for a lemma, `!` for the answer."""
        return f"{self.problem};{self.library}{sign}"

    def take(self, text: str) -> list[str]:
        """The valid lemmas of a round: none or one; the library grows by those it did not hold."""
        if not text or text not in (self.next, *SIDE):
            return []
        if text not in self.library:
            self.library += text
        return [text]

    @property
    def right(self) -> bool:
        """The answer is right, and the library proves it."""
        return self.said[-1][1] == str(self.problem + 1) and self.chain[-1] in self.library


class Lemmas:
    """Sixteen attempts a problem."""

    def __init__(self) -> None:
        self._known: dict[str, float] = {}

    def rollouts(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """All attempts of `rows` / (16 attempts × 5 rounds) problems."""
        count = max(1, rows // (GROUP * (ROUNDS + 1)))
        problems = random.permutation(PROBLEMS)[:count]
        attempts = [_Attempt(group, int(problem)) for group, problem in enumerate(problems) for _ in range(GROUP)]
        found: list[list[list[str]]] = [[] for _ in attempts]
        for round_ in range(ROUNDS + 1):
            sign = "?" if round_ < ROUNDS else "!"
            prompts = [one.prompt(sign) for one in attempts]
            drawn = policy.draw([policy.encode(prompt) for prompt in prompts], most=1)
            for place, (one, prompt, answer) in enumerate(zip(attempts, prompts, drawn, strict=True)):
                text = policy.text(answer.ids)
                one.said.append((prompt, text, answer))
                found[place].append(one.take(text) if sign == "?" else [])
        trajectories = [
            _trajectory(policy, one, lemmas, number, random)
            for number, (one, lemmas) in enumerate(zip(attempts, found, strict=True))
        ]
        self._measure(attempts, trajectories)
        return trajectories

    def demonstrations(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """A teacher whose rounds find the next lemma half of the time."""
        found = []
        for number in range(max(1, rows // (ROUNDS + 1))):
            one = _Attempt(number, int(random.integers(PROBLEMS)))
            lemmas = []
            for _ in range(ROUNDS):
                prompt, text = one.prompt("?"), _taught(one, random)
                one.said.append((prompt, text, Drawn(tuple(policy.encode(text)), (), "stop")))
                lemmas.append(one.take(text))
            right = random.random() < TEACHER_ANSWERS
            text = str(one.problem + 1) if right else str(random.integers(10))
            one.said.append((one.prompt("!"), text, Drawn(tuple(policy.encode(text)), (), "stop")))
            found.append(_trajectory(policy, one, [*lemmas, []], number, random))
        return found

    def measures(self) -> dict[str, float]:
        """`solved`, `masked_rounds` (rounds without a new lemma) and `mean_value` of the lemmas found."""
        return self._known

    def _measure(self, attempts: list[_Attempt], trajectories: list[Trajectory]) -> None:
        groups: dict[str, list[Trajectory]] = {}
        for one in trajectories:
            groups.setdefault(one.problem_id, []).append(one)
        values = [value for group in groups.values() for value in values_of(group, group_rewards(group)).of.values()]
        grown = sum(len(one.library) for one in attempts) / (len(attempts) * ROUNDS)
        self._known = {
            "solved": float(np.mean([one.right for one in attempts])),
            "masked_rounds": 1 - grown,
            "mean_value": float(np.mean(values)) if values else 0.0,
        }


def _taught(one: _Attempt, random: np.random.Generator) -> str:
    luck = random.random()
    if luck < TEACHER[0] and one.next:
        return one.next
    if luck < sum(TEACHER):
        return SIDE[random.integers(len(SIDE))]
    return LETTERS[random.integers(len(LETTERS))]


def _trajectory(policy: Policy, one: _Attempt, lemmas: list[list[str]], number: int, random: np.random.Generator) -> Trajectory:
    turns = [
        Turn(
            policy.encode(prompt),
            drawn.ids,
            logprobs=drawn.logprobs or None,
            role="prover",
            kind="round" if place < ROUNDS else "answer",
            lemmas=lemmas[place],
            policy_version=policy.version,
        )
        for place, (prompt, _, drawn) in enumerate(one.said)
    ]
    passes = int(random.binomial(VOTES, 1 - ERRS if one.right else ERRS))
    held = [letter for letter in one.chain if letter in one.library]
    return Trajectory(
        id=f"{policy.version}-{number}",
        problem_id=f"{policy.version}-{one.group}",
        turns=turns,
        reward=float(one.right),
        votes=(passes, VOTES),
        derived=frozenset(pairwise(held)),
        used=frozenset(held[-1:]),
    )
