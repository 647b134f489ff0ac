"""Apply moves to a digit with a note between attempts, for QED-Nano's reasoning cache: no attempt is long enough for the whole.

`7abba` asks for the digit after the moves a, b, b, a from 7. The moves are two tables of ten digits, in no prompt. An attempt
writes at most two digits, so it makes two moves. A summariser, which is not the policy, keeps a note: the digit reached and the
moves left. The prompt is the problem with its note, `7abba;2ba=`; the first note repeats the problem. Two states of a problem's
chain of attempts are drawn, and each starts a group of fresh attempts. An attempt is right if it makes the last moves
rightly and so reaches the problem's digit. Attempts far from the end, or after a wrong note, earn nothing.

`states = bare` lets all attempts start at the bare problem. `groups = problem` compares attempts at all states of a problem.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from apps.recipes.mathematics.rubric import FULL_MARKS
from apps.recipes.trajectory import Trajectory, Turn
from workers.training.policy import Completion, Policy

MOVES = {"a": (3, 8, 0, 5, 9, 1, 7, 2, 4, 6), "b": (1, 4, 7, 0, 2, 5, 8, 3, 6, 9)}
LENGTH = 4  # moves of a problem
STRIDE = 2  # moves of an attempt
GROUP = 8
STATES = 2  # states of a problem that start a group
TEACHER = 0.85  # how often the teacher makes a move correctly


@dataclass(frozen=True)
class State:
    """A problem with the note so far: the digit reached and the moves left."""

    problem: str
    note: str

    @property
    def prompt(self) -> str:
        """Prompt of an attempt."""
        return f"{self.problem};{self.note}="

    @property
    def is_last(self) -> bool:
        """Whether an attempt can reach the end from here."""
        return len(self.note) - 1 <= STRIDE

    def after(self, text: str) -> "State | None":
        """The state with the note on an attempt; None where it has no digit for each of its moves."""
        if len(text) != STRIDE or not text.isdecimal():
            return None
        return State(self.problem, text[-1] + self.note[1 + STRIDE :])


class NoteToy:
    """Chains of attempts and notes, and two groups of eight attempts for each problem."""

    def __init__(self, states: Literal["cached", "bare"] = "cached", groups: Literal["state", "problem"] = "state") -> None:
        self._states, self._groups = states, groups
        self._known: dict[str, float] = {}

    def rollouts(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """Attempts at states of `rows` / 16 problems."""
        problems = [_drawn(random) for _ in range(max(1, rows // (GROUP * STATES)))]
        chains, answers = self._chains(policy, problems)
        picked = [(number, state) for number, chain in enumerate(chains) for state in self._picked(chain, random)]
        tried = [pair for pair in picked for _ in range(GROUP)]
        drawn = _attempts(policy, [state for _, state in tried])
        trajectories = [
            self._trajectory(policy, place, number, state, one)
            for place, ((number, state), one) in enumerate(zip(tried, drawn, strict=True))
        ]
        solved = [answer == _moved(problem[0], problem[1:])[-1] for problem, answer in zip(problems, answers, strict=True)]
        self._known = {"solved": float(np.mean(solved)), "reward": float(np.mean([one.reward for one in trajectories]))}
        return trajectories

    def demonstrations(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """Attempts of a teacher who errs, at any state."""
        found = []
        for number in range(rows):
            problem = _drawn(random)
            state = State(problem, problem)
            for _ in range(int(random.integers(len(state.problem) // STRIDE))):
                state = state.after(_taught(state, random)) or state
            turn = Turn(policy.encode(state.prompt), policy.encode(_taught(state, random)))
            found.append(Trajectory(id=str(number), problem_id=state.problem, turns=[turn], reward=1.0))
        return found

    def measures(self) -> dict[str, float]:
        """`solved`: share of chains that end with the right digit; `reward`: mean of the fresh attempts."""
        return self._known

    def _chains(self, policy: Policy, problems: Sequence[str]) -> tuple[list[list[State]], list[str]]:
        """The states of each problem, one attempt after the other, and the last digits."""
        chains, answers = [[State(problem, problem)] for problem in problems], [""] * len(problems)
        open_ = list(range(len(problems)))
        while open_:
            drawn = _attempts(policy, [chains[place][-1] for place in open_])
            going = []
            for place, one in zip(open_, drawn, strict=True):
                text, state = policy.text(one.ids), chains[place][-1]
                if state.is_last:
                    answers[place] = text[-1:]
                elif (after := state.after(text)) is not None:
                    chains[place].append(after)
                    going.append(place)
            open_ = going
        return chains, answers

    def _picked(self, chain: Sequence[State], random: np.random.Generator) -> list[State]:
        """The states that start a group."""
        if self._states == "bare":
            return [chain[0]] * STATES
        return [chain[int(place)] for place in random.choice(len(chain), STATES, replace=len(chain) < STATES)]

    def _trajectory(self, policy: Policy, place: int, number: int, state: State, drawn: Completion) -> Trajectory:
        text, note = policy.text(drawn.ids), state.note
        right = (
            state.is_last and text == _moved(note[0], note[1:]) and text[-1] == _moved(state.problem[0], state.problem[1:])[-1]
        )
        name = f"{policy.version}-{number}"
        turn = Turn(
            policy.encode(state.prompt),
            drawn.ids,
            logprobs=drawn.logprobs,
            kind="answer",
            reward=FULL_MARKS * float(right),
            group=f"{name}-{place // GROUP}" if self._groups == "state" else name,
            policy_version=policy.version,
        )
        return Trajectory(id=f"{policy.version}-{place}", problem_id=name, turns=[turn], reward=float(right))


def _drawn(random: np.random.Generator) -> str:
    return str(random.integers(10)) + "".join(random.choice(list(MOVES), LENGTH))


def _moved(digit: str, moves: str) -> str:
    """The digits after each of the moves."""
    found = ""
    for move in moves:
        digit = str(MOVES[move][int(digit)])
        found += digit
    return found


def _taught(state: State, random: np.random.Generator) -> str:
    """The next moves of the teacher."""
    digit, found = state.note[0], ""
    for move in state.note[1 : 1 + STRIDE]:
        digit = _moved(digit, move) if random.random() < TEACHER else str(random.integers(10))
        found += digit
    return found


def _attempts(policy: Policy, states: Sequence[State]) -> list[Completion]:
    return policy.draw([policy.encode(state.prompt) for state in states], most=STRIDE) if states else []
