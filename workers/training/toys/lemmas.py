"""A chain of three lemmas: each can be found only after the previous one, and only the third proves the answer.

Four rounds, then the answer. `2;g?` asks for the next lemma of problem 2 if the library has g. A letter is valid if it is the
next of the problem's chain, or one of x, y, z, which are true but useless. `2;ghi!` asks for the answer. The final proof uses
the last lemma found of the chain, even if that proves nothing. It gets four votes with an error rate of 5 %.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from apps.recipes.orealh import group_rewards, values_of
from apps.recipes.trajectory import Trajectory, Turn
from workers.training.policy import Completion, Policy

GROUP = 16
ROUNDS = 4
CHAIN = 3
PROBLEMS = 5
SIDE = "xyz"
LETTERS = "abcdefghijklmno"
VOTES, ERRS = 4, 0.05
TEACHER = (0.5, 0.25)  # shares of demonstrated rounds with the next lemma and with a useless lemma
TEACHER_ANSWERS = 0.8


@dataclass
class _Attempt:
    """An unfinished attempt."""

    group: int
    problem: int
    library: str = ""
    turns: list[tuple[str, str, Completion]] = field(default_factory=list)

    @property
    def chain(self) -> str:
        """Lemmas that lead to the answer."""
        return LETTERS[CHAIN * self.problem : CHAIN * (self.problem + 1)]

    @property
    def next(self) -> str:
        """Lemma that can be found now; empty once the chain is complete."""
        return next((letter for letter in self.chain if letter not in self.library), "")

    def prompt(self, sign: str) -> str:
        """Prompt for a lemma (`?`) or the answer (`!`)."""
        return f"{self.problem};{self.library}{sign}"

    def take(self, text: str) -> list[str]:
        """Add a round's text to the library; return its valid lemmas, at most one."""
        if not text or text not in (self.next, *SIDE):
            return []
        if text not in self.library:
            self.library += text
        return [text]

    @property
    def right(self) -> bool:
        """Whether the answer is right and proven by the library."""
        return self.turns[-1][1] == str(self.problem + 1) and self.chain[-1] in self.library


class LemmaToy:
    """Sixteen attempts per problem."""

    def __init__(self) -> None:
        self._known: dict[str, float] = {}

    def rollouts(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """All attempts at `rows` / (16 attempts × 5 turns) problems."""
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
                one.turns.append((prompt, text, answer))
                found[place].append(one.take(text) if sign == "?" else [])
        trajectories = [
            _trajectory(policy, one, lemmas, number, random)
            for number, (one, lemmas) in enumerate(zip(attempts, found, strict=True))
        ]
        self._measure(attempts, trajectories)
        return trajectories

    def demonstrations(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """Attempts of a teacher whose rounds find the next lemma half of the time."""
        found = []
        for number in range(max(1, rows // (ROUNDS + 1))):
            one = _Attempt(number, int(random.integers(PROBLEMS)))
            lemmas = []
            for _ in range(ROUNDS):
                prompt, text = one.prompt("?"), _taught(one, random)
                one.turns.append((prompt, text, Completion(tuple(policy.encode(text)), (), "stop")))
                lemmas.append(one.take(text))
            right = random.random() < TEACHER_ANSWERS
            text = str(one.problem + 1) if right else str(random.integers(10))
            one.turns.append((one.prompt("!"), text, Completion(tuple(policy.encode(text)), (), "stop")))
            found.append(_trajectory(policy, one, [*lemmas, []], number, random))
        return found

    def measures(self) -> dict[str, float]:
        """Metrics `solved`, `masked_rounds` (rounds without a new lemma) and `mean_value` (of the lemmas found)."""
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
        for place, (prompt, _, drawn) in enumerate(one.turns)
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
