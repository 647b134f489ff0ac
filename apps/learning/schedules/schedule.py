"""Simulation of rollout schedules: how five roles share decoding slots behind a barrier, in a chain, a pipeline or segments.

MarsRL (§3.3) trains each agent as soon as its group is complete and decodes long answers in segments. The paper does not
publish the speed-up; this model estimates it. One slot writes 1k tokens per unit of time. Slots are first come, first served.
Lengths are log-normal, truncated at a cap. For each problem the Solver writes a group. Then two inputs are chosen for each
next role, with a group for each. With some probability no answer is flagged and the problem ends. All schedules do the same
work:

- `barrier`: a batch passes through the roles together; each role waits for the slowest answer of the previous role.
- `chain`: each problem advances independently; the batch waits for its slowest problem.
- `pipeline`: one step decodes every role, each of a different batch, the Solver's first; it waits for its slowest answer.
- `segments`: like `pipeline`, but a step decodes at most one segment of an answer, older batches first, and carries the rest
  over.
- `ideal`: work / slots.

Pipelines are measured in their steady state: batches form a ring, so no step is half empty. Not modelled: slower decoding in
larger batches, prefill, prefix caches, weight transfer.
"""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache, reduce
from math import log
from typing import TypeAlias

import numpy as np

from apps.learning.schedules.queueing import Lengths, Shift, chained, listed

Problem: TypeAlias = list[Lengths]
Batch: TypeAlias = list[Problem]
ROLES = ("Solver", "Verifier 1", "Corrector 1", "Verifier 2", "Corrector 2")
MOST_ANSWERS = 150_000
TITLES = {
    "barrier": "Barrier after each role",
    "chain": "Each problem by itself",
    "pipeline": "Pipeline of roles",
    "segments": "Pipeline in segments",
    "ideal": "Ideal",
}


class TooLarge(ValueError):
    """The simulation would take too long; the message is that of `too_large`."""


@dataclass(frozen=True)
class Setting:
    """Parameters of a simulation. Lengths in thousands of tokens; `training` as a share of a step's ideal rollout time."""

    problems: int = 128
    group: int = 8
    chosen: int = 2
    slots: int = 1024
    steps: int = 12
    solver_mean: float = 19.0
    other_mean: float = 5.0
    spread: float = 0.8
    cap: float = 64.0
    segment: float = 16.0
    first_flagged: float = 0.8
    then_flagged: float = 0.7
    training: float = 0.0
    seed: int = 0

    @property
    def most_answers(self) -> int:
        """Maximum number of answers, over all steps."""
        return self.steps * self.problems * self.group * (1 + (len(ROLES) - 1) * self.chosen)


@dataclass(frozen=True)
class Schedule:
    """Result of one schedule: time units per step, speed-up over the barrier (`faster`), and the busy share of slot time.

    `versions`: pairs of policy versions spanned and number of problems. `shift`: the jobs of the first step.
    """

    name: str
    title: str
    time: float
    utilisation: float
    versions: tuple[tuple[int, int], ...]
    faster: float
    shift: Shift | None = None

    @property
    def percent(self) -> float:
        """Utilisation in per cent."""
        return 100 * self.utilisation

    @property
    def mean_versions(self) -> float:
        """Mean number of policy versions that a problem spans."""
        return sum(span * problems for span, problems in self.versions) / sum(problems for _, problems in self.versions)

    @property
    def most_versions(self) -> int:
        """Largest number of policy versions that a problem spans."""
        return self.versions[-1][0]


@dataclass(frozen=True)
class Simulation:
    """All five schedules of one setting, and the work of a step in thousands of tokens."""

    setting: Setting
    work: float
    schedules: tuple[Schedule, ...]


def batches(setting: Setting) -> list[Batch]:
    """One batch per step: for each problem, the lengths of each role it reaches. Depends on the seed and numpy's version."""
    random = np.random.default_rng(setting.seed)
    means = [setting.solver_mean, *[setting.other_mean] * (len(ROLES) - 1)]
    middles = [log(mean) - setting.spread**2 / 2 for mean in means]
    sizes = [setting.group, *[setting.group * setting.chosen] * (len(ROLES) - 1)]
    made: list[Batch] = []
    for _ in range(setting.steps):
        first = random.random(setting.problems) < setting.first_flagged
        second = first & (random.random(setting.problems) < setting.then_flagged)
        reached = np.where(second, 5, np.where(first, 4, 2))
        batch: Batch = []
        for roles in reached:
            drawn = zip(middles[:roles], sizes[:roles], strict=True)
            batch.append([np.minimum(random.lognormal(middle, setting.spread, size), setting.cap) for middle, size in drawn])
        made.append(batch)
    return made


def too_large(setting: Setting) -> str:
    """Message for a setting that takes too long to simulate for a page; else empty."""
    if setting.most_answers <= MOST_ANSWERS:
        return ""
    return f"{setting.most_answers:,} answers exceed the limit of {MOST_ANSWERS:,}. Choose fewer steps or problems."


@lru_cache(maxsize=8)
def simulate(setting: Setting) -> Simulation:
    """Simulate every schedule; about 1 s at the paper's size. Raises `TooLarge` beyond `MOST_ANSWERS` answers."""
    refusal = too_large(setting)
    if refusal:
        raise TooLarge(refusal)
    made = batches(setting)
    work = sum(float(lengths.sum()) for batch in made for problem in batch for lengths in problem) / len(made)
    rest = setting.training * work / setting.slots
    problems = setting.problems * setting.steps
    shifts = {
        "barrier": [_barrier(batch, setting.slots) for batch in made],
        "chain": [chained(batch, setting.slots) for batch in made],
        "pipeline": _pipeline(made, setting.slots),
        "segments": _segments(made, setting),
    }
    spans = {
        "pipeline": Counter(len(problem) for batch in made for problem in batch),
        "segments": Counter(sum(_steps_of(problem, setting.segment)) for batch in made for problem in batch),
    }
    times = {name: sum(shift.duration for shift in done) / len(made) + rest for name, done in shifts.items()}
    times["ideal"] = work / setting.slots + rest
    found = [
        Schedule(
            name,
            title,
            time=times[name],
            utilisation=work / setting.slots / times[name],
            versions=tuple(sorted(spans.get(name, Counter({1: problems})).items())),
            faster=times["barrier"] / times[name],
            shift=shifts[name][0] if name in shifts else None,
        )
        for name, title in TITLES.items()
    ]
    return Simulation(setting, work, tuple(found))


def _barrier(batch: Batch, slots: int) -> Shift:
    return reduce(Shift.then, (listed(_role(batch, role), slots) for role in range(len(ROLES))))


def _role(batch: Batch, role: int) -> list[float]:
    return [float(length) for problem in batch if len(problem) > role for length in problem[role]]


def _pipeline(made: list[Batch], slots: int) -> list[Shift]:
    """Step t decodes role j of batch t − j."""
    size = len(made)
    return [
        listed([length for role in range(len(ROLES)) for length in _role(made[(step - role) % size], role)], slots)
        for step in range(size)
    ]


def _steps_of(problem: Problem, segment: float) -> list[int]:
    """Steps per role of a problem: the segments of its longest answer."""
    return [int(np.ceil(lengths.max() / segment)) for lengths in problem]


def _segments(made: list[Batch], setting: Setting) -> list[Shift]:
    """Step t decodes the open segments of batch t − age, the oldest batch first."""
    pieces = [_pieces(batch, setting.segment) for batch in made]
    oldest = max(max(ages) for ages in pieces)
    size = len(made)
    return [
        listed(
            [length for age in range(oldest, -1, -1) for length in pieces[(step - age) % size].get(age, [])],
            setting.slots,
        )
        for step in range(size)
    ]


def _pieces(batch: Batch, segment: float) -> dict[int, list[float]]:
    """Lengths of a batch's segments, by the batch's age in steps."""
    found: dict[int, list[float]] = {}
    for problem in batch:
        age = 0
        for lengths, steps in zip(problem, _steps_of(problem, segment), strict=True):
            for length in lengths:
                whole, rest = divmod(float(length), segment)
                for piece in range(int(whole)):
                    found.setdefault(age + piece, []).append(segment)
                if rest:
                    found.setdefault(age + int(whole), []).append(rest)
            age += steps
    return found
