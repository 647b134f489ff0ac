"""Ask a tool: a number of two digits stands behind a key, drawn anew for every attempt, so that only the tool knows it.

`k3?` may be answered at once (a guess, right once in a hundred) or with the call `!3;`. The tool's `:47=` is put behind it, and
the second turn is right when it is `47;`. `single` makes one row of an attempt, the tool's text masked, instead of one a turn.
"""

from dataclasses import dataclass, field

import numpy as np

from workers.recipes.trajectory import Trajectory, Turn
from workers.training.policy import Drawn, Policy

GROUP = 8
CALLS = 0.5  # how often the teacher asks
CAREFUL = 0.9  # how often it copies a digit rightly


@dataclass
class _Attempt:
    """An attempt under way."""

    group: int
    key: str
    value: str
    spoken: list[tuple[str, Drawn]] = field(default_factory=list)
    reply: str = ""

    @property
    def text(self) -> str:
        """What has been said so far, the prompt of the next turn."""
        return f"k{self.key}?" + "".join(said for said, _ in self.spoken) + self.reply

    @property
    def asked(self) -> bool:
        """The first turn called the tool."""
        return bool(self.reply)

    @property
    def reward(self) -> float:
        """1 where the last turn is the number that stands behind the key."""
        return float(self.spoken[-1][0] == f"{self.value};")


class Asking:
    """One or two turns an attempt, eight attempts a key."""

    def __init__(self, single: bool = False) -> None:
        self._single = single
        self._known: dict[str, float] = {}

    def rollouts(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """Attempts for about `rows` rows: two turns each, one where `single`."""
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
        """A teacher that asks half of the time, else guesses, and copies carelessly."""
        found = []
        for number, one in enumerate(_drawn(random, max(1, rows * 2 // 3), 1)):
            if random.random() < CALLS:
                one.spoken.append((f"!{one.key};", _unscored(policy, f"!{one.key};")))
                one.reply = f":{one.value}="
                said = "".join(d if random.random() < CAREFUL else str(random.integers(10)) for d in one.value) + ";"
            else:
                said = f"{random.integers(10, 100)};"
            one.spoken.append((said, _unscored(policy, said)))
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
    """The number behind the key that was asked for; another key has another number. Nothing for a call that cannot be read."""
    said = one.spoken[0][0]
    if len(said) != 3 or not said[1].isdecimal() or said[2] != ";":
        return ""
    return f":{one.value if said[1] == one.key else random.integers(10, 100)}="


def _readable(said: str) -> bool:
    body = said.removesuffix(";").removeprefix("!")
    return said.endswith(";") and body.isdecimal()


def _turn(policy: Policy, prompt: str, drawn: Drawn, *, invalid: bool = False, tool_ok: bool | None = None) -> Turn:
    return Turn(
        policy.encode(prompt),
        drawn.ids,
        logprobs=drawn.logprobs or None,
        invalid=invalid,
        tool_ok=tool_ok,
        policy_version=policy.version,
        finish_reason=drawn.finish_reason,
    )


def _joined(policy: Policy, one: _Attempt, first: Drawn, second: Drawn) -> Turn:
    """Both turns as one completion with the tool's text under the mask; it has no log-probability, so it gets NaN."""
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


def _unscored(policy: Policy, text: str) -> Drawn:
    return Drawn(tuple(policy.encode(text)), (), "stop")
