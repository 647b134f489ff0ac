"""The cells of a manifest: every problem with every method, team, budget and repeat, in the order in which they start."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from apps.experiments.solving.manifest import EXTERNAL, Manifest, Method, Team
from apps.reasoning.scaffolds.spec import Budget

MOST_SEED = 2**31


@dataclass(frozen=True, slots=True)
class Place:
    """A cell's place. `problem`: name in the set; `budget` and `repeat`: numbers from 0."""

    problem: str
    method: str
    team: str
    budget: int
    repeat: int


def places(manifest: Manifest, problems: Sequence[str]) -> Iterator[Place]:
    """All places of runs: first repeat by repeat, so that a table is soon complete, then problem by problem."""
    methods = [method for method in manifest.methods if method.scaffold != EXTERNAL]
    for repeat, problem in product(range(manifest.repeats), problems):
        for method, team, budget in product(methods, manifest.teams, range(len(manifest.budgets))):
            yield Place(problem, method.name, team.name, budget, repeat)


def seed_of(manifest: Manifest, place: Place) -> int:
    """The seed of a cell's run: of problem and repeat, so that methods are compared with the same one."""
    digest = hashlib.sha256(f"{manifest.seed}/{place.problem}/{place.repeat}".encode()).digest()
    return int.from_bytes(digest[:4]) % MOST_SEED


@dataclass(frozen=True)
class Axes:
    """Values of the axes by name."""

    manifest: Manifest

    def method(self, name: str) -> Method:
        return next(one for one in self.manifest.methods if one.name == name)

    def team(self, name: str) -> Team:
        return next(one for one in self.manifest.teams if one.name == name)

    def budget(self, number: int) -> Budget:
        return self.manifest.budgets[number]
