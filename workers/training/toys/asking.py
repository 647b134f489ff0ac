"""Ask a tool: every attempt has a new random number of two digits for a key, which only the tool has.

`k3?` may be answered at once (a guess, right once in about a hundred) or with the call `!3;`. The tool's reply `:47=` is
appended, and the second turn is right if it is `47;`. `single` makes one row per attempt, with the tool's text masked, instead
of one row per turn.
"""

from dataclasses import dataclass, field

import numpy as np

from apps.recipes.trajectory import Trajectory, Turn
from workers.training.policy import Completion, Policy

GROUP = 8
CALLS = 0.5  # share of the teacher's attempts with a call
CAREFUL = 0.9  # share of digits that the teacher copies correctly


@dataclass
class _Attempt:
    """An unfinished attempt."""

    group: int
    key: str
    value: str
    spoken: list[tuple[str, Completion]] = field(default_factory=list)
    reply: str = ""

    @property
    def text(self) -> str:
        """Text so far, which is the prompt of the next turn."""
        return f"k{self.key}?" + "".join(text for text, _ in self.spoken) + self.reply

    @property
    def asked(self) -> bool:
        """Whether the first turn called the tool."""
        return bool(self.reply)

    @property
    def reward(self) -> float:
        """1 where the last turn is the number of the key, else 0."""
        return float(self.spoken[-1][0] == f"{self.value};")


class AskToy:
    """One or two turns per attempt, eight attempts per key."""

    def __init__(self, single: bool = False) -> None:
        self._single = single
        self._known: dict[str, float] = {}

    def rollouts(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """Attempts for about `rows` rows: two turns each, or one with `single`."""
        attempts = _drawn(random, max(1, rows // (GROUP if self._single else 2 * GROUP)), GROUP)
        self._speak(policy, attempts)
        asking = [one for one in attempts if one.spoken[0][0].startswith("!")]
        for one in asking:
            one.reply = _reply(one, random)
        self._speak(policy, [one for one in asking if one.asked])
        self._known = {
            "solved": float(np.mean([one.reward for one in attempts])),
            "tool_rate": float(np.mean([one.asked for one in attempts])),
        }
        return [self._trajectory(policy, one, number) for number, one in enumerate(attempts)]

    def demonstrations(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """Attempts of a teacher that asks half of the time, else guesses, and sometimes copies wrongly."""
        found = []
        for number, one in enumerate(_drawn(random, max(1, rows * 2 // 3), 1)):
            if random.random() < CALLS:
                one.spoken.append((f"!{one.key};", _unscored(policy, f"!{one.key};")))
                one.reply = f":{one.value}="
                text = "".join(d if random.random() < CAREFUL else str(random.integers(10)) for d in one.value) + ";"
            else:
                text = f"{random.integers(10, 100)};"
            one.spoken.append((text, _unscored(policy, text)))
            found.append(self._trajectory(policy, one, number, shown=True))
        return found

    def measures(self) -> dict[str, float]:
        """`solved` and `tool_rate`, shares of attempts."""
        return self._known

    def _speak(self, policy: Policy, attempts: list[_Attempt]) -> None:
        if not attempts:
            return
        for one, drawn in zip(
            attempts, policy.draw([policy.encode(one.text) for one in attempts], most=3, stop=";"), strict=True
        ):
            one.spoken.append((policy.text(drawn.ids), drawn))

    def _trajectory(self, policy: Policy, one: _Attempt, number: int, *, shown: bool = False) -> Trajectory:
        first, *more = one.spoken
        asked = True if more else None
        turns = [_turn(policy, f"k{one.key}?", first[1], invalid=not _readable(first[0]), tool_ok=asked)]
        if more and self._single:
            turns = [_joined(policy, one, first[1], more[0][1])]
        elif more:
            turns.append(_turn(policy, f"k{one.key}?{first[0]}{one.reply}", more[0][1]))
        return Trajectory(
            id=f"{policy.version}-{number}",
            problem_id=f"{policy.version}-{one.group}",
            reward=1.0 if shown else one.reward,
            turns=turns,
        )


def _drawn(random: np.random.Generator, groups: int, size: int) -> list[_Attempt]:
    keys = random.integers(0, 10, groups)
    return [_Attempt(group, str(key), str(random.integers(10, 100))) for group, key in enumerate(keys) for _ in range(size)]


def _reply(one: _Attempt, random: np.random.Generator) -> str:
    """Reply with the number of the requested key; another key has another number. Empty for an unreadable call."""
    call = one.spoken[0][0]
    if len(call) != 3 or not call[1].isdecimal() or call[2] != ";":
        return ""
    return f":{one.value if call[1] == one.key else random.integers(10, 100)}="


def _readable(text: str) -> bool:
    body = text.removesuffix(";").removeprefix("!")
    return text.endswith(";") and body.isdecimal()


def _turn(policy: Policy, prompt: str, drawn: Completion, *, invalid: bool = False, tool_ok: bool | None = None) -> Turn:
    return Turn(
        policy.encode(prompt),
        drawn.ids,
        logprobs=drawn.logprobs or None,
        invalid=invalid,
        tool_ok=tool_ok,
        policy_version=policy.version,
        finish_reason=drawn.finish_reason,
    )


def _joined(policy: Policy, one: _Attempt, first: Completion, second: Completion) -> Turn:
    """Join both turns to one completion; the tool's text is masked and its log-probabilities are NaN."""
    tool = policy.encode(one.reply)
    scored = bool(first.logprobs)
    return Turn(
        policy.encode(f"k{one.key}?"),
        (*first.ids, *tool, *second.ids),
        loss_mask=[1] * len(first.ids) + [0] * len(tool) + [1] * len(second.ids),
        logprobs=(*first.logprobs, *[float("nan")] * len(tool), *second.logprobs) if scored else None,
        policy_version=policy.version,
        finish_reason=second.finish_reason,
    )


def _unscored(policy: Policy, text: str) -> Completion:
    return Completion(tuple(policy.encode(text)), (), "stop")
