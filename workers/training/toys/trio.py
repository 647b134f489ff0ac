"""Three roles with one policy: a Solver maps a digit to another, a Verifier judges the answer, a Corrector corrects it.

`s4=` is solved by one digit, `v4=3?` verified by y (correct) or n (flagged), `c4=3=` corrected by a digit; w and d are the
second Verifier and Corrector. The map is fixed and in no prompt. Inputs of the next role are chosen as in MarsRL. With
`planted`, a Verifier that would see only right or only wrong answers of a problem gets a made-up one of the other kind in
place of the last: else it forgets errors once the Solver makes none. With `single`, every attempt is one chain of turns whose
reward is its last answer, as if there were no roles; it is for recipes of whole trajectories, such as `turn_grpo`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from apps.recipes.mathematics.mars import GROUP, Output, Role, Strategy, choose_inputs, rates, solver_reward, verifier_reward
from apps.recipes.trajectory import Trajectory, Turn
from workers.training.policy import Completion, Policy

MAP = (3, 8, 0, 5, 9, 1, 7, 2, 4, 6)
SIGNS: dict[Role, str] = {"solver": "s", "verifier1": "v", "corrector1": "c", "verifier2": "w", "corrector2": "d"}
ROWS_A_PROBLEM = 72
TEACHER, JUDGE = 0.65, 0.75  # how often the teacher answers and judges correctly


@dataclass(frozen=True)
class _Made:
    """One output of a role: the answer it judges or gives, whether it flags that, and its reward."""

    problem: int
    answer: str
    turn: Turn
    reward: float
    flagged: bool = False


class TrioToy:
    """Up to 72 outputs per problem: eight of the Solver, and eight for each of two inputs of each later role."""

    def __init__(self, strategy: Strategy = "balanced", planted: bool = True, single: bool = False) -> None:
        self._strategy: Strategy = strategy
        self._planted = planted
        self._single = single
        self._known: dict[str, float] = {}

    def rollouts(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """Outputs of all roles for `rows` / 72 problems."""
        if self._single:
            return self._chains(policy, random, rows)
        draw = Random(int(random.integers(2**31)))  # noqa: S311
        problems = [int(digit) for digit in random.permutation(10)[: max(1, rows // ROWS_A_PROBLEM)]]
        made = self._act(policy, "solver", [(digit, "") for digit in problems for _ in range(GROUP)])
        everything, before = list(made), made
        solved = made
        for role in list(SIGNS)[1:]:
            inputs = [
                chosen for digit in problems for chosen in self._chosen([m for m in before if m.problem == digit], role, draw)
            ]
            made = self._act(policy, role, [pair for pair in inputs for _ in range(GROUP)])
            everything += made
            before = made
            if role == "verifier1":
                self._measure(solved, made)
        return [
            Trajectory(
                id=f"{policy.version}-{digit}",
                problem_id=f"{policy.version}-{digit}",
                turns=[made.turn for made in everything if made.problem == digit],
            )
            for digit in problems
        ]

    def demonstrations(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """Turns of a teacher of all roles that is often wrong, like recorded turns of a first model."""
        turns = []
        roles = list(SIGNS)
        for _ in range(rows):
            role, digit = roles[random.integers(len(roles))], int(random.integers(10))
            answer = str(MAP[digit]) if random.random() < 0.5 else _slip(digit)
            correct, right = answer == str(MAP[digit]), random.random() < (JUDGE if role.startswith("verifier") else TEACHER)
            if role.startswith("verifier"):
                text = "y" if correct == right else "n"
            else:
                text = str(MAP[digit]) if right else _slip(digit)
            turns.append(Turn(policy.encode(_prompt(role, digit, answer)), policy.encode(text), role=role))
        return [Trajectory(id="shown", problem_id="shown", turns=turns, reward=1.0)]

    def measures(self) -> dict[str, float]:
        """`solved`, and of the first Verifier: accuracy (`verifier1`), `found` (TPR), `spared` (TNR), `silent` groups."""
        return self._known

    def _chains(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """Eight attempts at each problem: an answer, and twice a verdict and, where it is flagged, a correction.

        Every Verifier also judges a right and a wrong answer of each problem, only to be measured as in the other form.
        """
        problems = [int(digit) for digit in random.permutation(10)[: max(1, rows // (GROUP * len(SIGNS)))]]
        chains = [[one] for one in self._act(policy, "solver", [(digit, "") for digit in problems for _ in range(GROUP)])]
        solved = [chain[0] for chain in chains]
        answers = [made.answer for made in solved]
        open_ = list(range(len(chains)))
        for role in list(SIGNS)[1:]:
            made = self._act(policy, role, [(chains[place][0].problem, answers[place]) for place in open_])
            for place, one in zip(open_, made, strict=True):
                chains[place].append(one)
                answers[place] = one.answer
            if role.startswith("verifier"):
                open_ = [place for place, one in zip(open_, made, strict=True) if one.flagged]
        both = [(digit, answer) for digit in problems for answer in (str(MAP[digit]), _slip(digit)) for _ in range(GROUP)]
        self._measure(solved, self._act(policy, "verifier1", both))
        self._known["final"] = float(
            np.mean([answer == str(MAP[c[0].problem]) for c, answer in zip(chains, answers, strict=True)])
        )
        return [
            Trajectory(
                id=f"{policy.version}-{number}",
                problem_id=f"{policy.version}-{chain[0].problem}",
                turns=[replace(made.turn, reward=None, group="") for made in chain],
                reward=float(answer == str(MAP[chain[0].problem])),
            )
            for number, (chain, answer) in enumerate(zip(chains, answers, strict=True))
        ]

    def _chosen(self, outputs: Sequence[_Made], role: Role, draw: Random) -> list[tuple[int, str]]:
        options = [Output(made.reward, made.flagged) for made in outputs]
        picked = choose_inputs(options, role, strategy=self._strategy, random=draw)
        given = [(outputs[place].problem, outputs[place].answer) for place in picked]
        return _with_both_kinds(given) if self._planted and role.startswith("verifier") else given

    def _act(self, policy: Policy, role: Role, inputs: Sequence[tuple[int, str]]) -> list[_Made]:
        if not inputs:
            return []
        prompts = [policy.encode(_prompt(role, digit, answer)) for digit, answer in inputs]
        drawn = policy.draw(prompts, most=1)
        return [
            _made(policy, role, digit, answer, number // GROUP, prompt, one)
            for number, ((digit, answer), prompt, one) in enumerate(zip(inputs, prompts, drawn, strict=True))
        ]

    def _measure(self, solved: Sequence[_Made], verdicts: Sequence[_Made]) -> None:
        groups: dict[str, list[tuple[bool, bool]]] = {}
        for made in verdicts:
            groups.setdefault(made.turn.group, []).append((made.answer == str(MAP[made.problem]), made.flagged))
        found = rates(list(groups.values()))
        known = {
            "solved": float(np.mean([made.reward for made in solved])),
            "verifier1": float(np.mean([made.reward for made in verdicts])),
            "found": found.found,
            "spared": found.spared,
            "silent": found.silent_groups,
        }
        self._known = {name: value for name, value in known.items() if value is not None}


def _with_both_kinds(inputs: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Replace the last of a problem's answers by one of the other kind, where all are right or all are wrong."""
    right = [answer == str(MAP[digit]) for digit, answer in inputs]
    if len(inputs) < 2 or any(right) != all(right):
        return inputs
    digit = inputs[-1][0]
    return [*inputs[:-1], (digit, _slip(digit) if all(right) else str(MAP[digit]))]


def _slip(digit: int) -> str:
    """The answer of someone who errs, as errors are alike: one more than the right one."""
    return str((MAP[digit] + 1) % 10)


def _prompt(role: Role, digit: int, answer: str) -> str:
    if role == "solver":
        return f"s{digit}="
    return f"{SIGNS[role]}{digit}={answer}{'?' if role.startswith('verifier') else '='}"


def _made(policy: Policy, role: Role, digit: int, answer: str, group: int, prompt: list[int], drawn: Completion) -> _Made:
    text = policy.text(drawn.ids)
    flagged = False
    if role.startswith("verifier"):
        flagged = text == "n"
        reward = verifier_reward(answer == str(MAP[digit]), flagged) if text in ("y", "n") else 0.0
    else:
        answer, reward = text, solver_reward(text == str(MAP[digit]))
    turn = Turn(
        prompt,
        drawn.ids,
        logprobs=drawn.logprobs,
        role=role,
        reward=reward,
        group=f"{policy.version}-{role}-{group}",
        passed=text == "y" if role.startswith("verifier") and text in ("y", "n") else None,
        policy_version=policy.version,
    )
    return _Made(digit, answer, turn, reward, flagged)
