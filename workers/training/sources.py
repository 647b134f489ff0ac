"""Where the rows of a step come from: rows that were stored, shards that arrive meanwhile, or a toy played by the model."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from workers.learning.arrays import NothingToLearn, NotLearnable
from workers.learning.rows import Row
from workers.recipes.tallies import means_of
from workers.recipes.trajectory import Trajectory, Turn
from workers.training.measures import measures_of_rollouts
from workers.training.policy import Policy
from workers.training.problems import NoRows, check_tokenizers
from workers.training.tables import read_rows, stream_facts

Measures = Mapping[str, float]


class EndOfRows(Exception):
    """There are no more rows: the step that asked gets none, and the job is done. Its text, if any, is for people."""


class RowSource(Protocol):
    """Gives the rows of an optimiser step, counted from 0, as a function of the step and the policy alone: so a job resumes."""

    def rows(self, step: int, policy: Policy) -> Sequence[Row]:
        """Raises `NotLearnable`, `BadRows`, `NoRows` or `EndOfRows`."""
        ...

    def measures(self) -> Measures:
        """What the source knows about the rows it gave last."""
        ...


class StoredRows:
    """`per_step` of the rows at a time in an order drawn from the seed, a new order each time through."""

    def __init__(self, rows: Sequence[Row], per_step: int, *, seed: int = 0, places: Sequence[int] | None = None) -> None:
        """`places`: of the rows to learn from, all unless they are given."""
        if not rows:
            raise NotLearnable("There is no row to learn from.")
        self._rows, self._per_step, self._seed = rows, per_step, seed
        self._places = range(len(rows)) if places is None else places
        learned = set(self._places)
        self._kept_back = [place for place in range(len(rows)) if place not in learned]

    def kept_back(self, most: int) -> list[Row]:
        """Rows that are not learned from: all, or `most` of them drawn from the seed."""
        places = self._kept_back
        if len(places) > most:
            places = sorted(np.random.default_rng(self._seed).choice(places, most, replace=False))
        return [self._rows[int(place)] for place in places]

    def rows(self, step: int, policy: Policy) -> Sequence[Row]:
        """Always exactly `per_step` rows; an order that ends within a step is followed by the next."""
        first = step * self._per_step
        places = range(first, first + self._per_step)
        size = len(self._places)
        orders = {place // size: None for place in places}
        drawn = {number: np.random.default_rng([self._seed, number]).permutation(size) for number in orders}
        return [self._rows[self._places[int(drawn[place // size][place % size])]] for place in places]

    def measures(self) -> Measures:
        """How often all rows have been used is told by the step."""
        return {}


class Toy(Protocol):
    """A small environment whose rollouts are the model's own."""

    def rollouts(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """Trajectories of about `rows` rows."""
        ...

    def demonstrations(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """Trajectories of a teacher that is right only sometimes, for a cold start."""
        ...

    def measures(self) -> Measures:
        """Of the last rollouts."""
        ...


class ToyRows:
    """Rollouts of a toy through a recipe. Where all groups teach nothing others are drawn, ten batches at most; with `refills`
    also where so many do that the step is not full, which is DAPO's dynamic sampling.
    """

    most_batches = 10

    def __init__(
        self,
        toy: Toy,
        recipe: Callable[[Sequence[Trajectory]], list[Row]],
        per_step: int,
        *,
        seed: int = 0,
        demonstrations: bool = False,
        refills: bool = False,
    ) -> None:
        self._toy, self._recipe, self._per_step, self._seed = toy, recipe, per_step, seed
        self._demonstrations, self._refills = demonstrations, refills
        self._played: list[list[Trajectory]] = []

    def rows(self, step: int, policy: Policy) -> Sequence[Row]:
        """Raises `NotLearnable` where ten batches of rollouts taught nothing, `EndOfRows` where all in them was right."""
        random = np.random.default_rng([self._seed, step])
        play = self._toy.demonstrations if self._demonstrations else self._toy.rollouts
        self._played, why = [], NothingToLearn()
        found: list[Row] = []
        while len(self._played) < self.most_batches and (not found or (self._refills and len(found) < self._per_step)):
            self._played.append(play(policy, random, self._per_step))
            try:
                found += self._recipe(self._played[-1])
            except NothingToLearn as nothing:
                why = nothing
        if found:
            return found
        if step and min((_lowest(one) for batch in self._played for one in batch), default=0) == 1:
            raise EndOfRows(f"The toy is learned: all answers of {self.most_batches} batches got full marks.")
        raise why

    def measures(self) -> Measures:
        """The toy's own, each under `toy/`, and those of all groups of the step, also of batches that taught nothing."""
        if self._demonstrations:
            return {}
        # A problem of one batch is not one of the next: their groups are told apart by the batch.
        told = [
            replace(one, problem_id=f"{number}/{one.problem_id}", turns=[_told_apart(turn, number) for turn in one.turns])
            for number, batch in enumerate(self._played)
            for one in batch
        ]
        return measures_of_rollouts(told) | {f"toy/{name}": value for name, value in self._toy.measures().items()}


def _lowest(one: Trajectory) -> float:
    """The lowest reward of turns that are compared by themselves, else the episode's; a toy's full marks are 1."""
    return min((turn.reward for turn in one.turns if turn.group and turn.reward is not None), default=one.reward)


def _told_apart(turn: Turn, batch: int) -> Turn:
    return replace(turn, group=f"{batch}/{turn.group}") if turn.group else turn


class StreamedRows:
    """Shards of a folder as they arrive, in the order of their names, each row once.

    Rows further behind the policy than `most_lag` are dropped and counted. How far a stream has been read stands in the
    checkpoint (`place`), not in the step: which rows were dropped depends on when they came.
    """

    def __init__(
        self,
        folder: Path,
        per_step: int,
        *,
        wait: float,
        most_lag: int | None,
        asked: Callable[[], bool] = lambda: False,
        tell: Callable[[str, int], None] = lambda *_: None,
        tokenizer: str = "",
        **needs: bool,
    ) -> None:
        """`asked`: whether to stop waiting; `tell` is told the shard that is read and the rows held for a step not full yet."""
        self._tell = tell
        self._folder, self._per_step, self._wait, self._most_lag, self._needs = folder, per_step, wait, most_lag, needs
        self._asked, self._tokenizer = asked, tokenizer
        self.place: dict[str, Any] = {"shard": "", "row": 0}
        self.dropped = 0
        self._told: Mapping[str, Sequence[float]] = {}

    def rows(self, step: int, policy: Policy) -> Sequence[Row]:
        """Waits for `per_step` rows. Raises `NoRows` after `wait` seconds without a new shard, `EndOfRows` at the end,
        `NothingToLearn` where that comes before the first row and every group was silent, `OtherTokenizer`.

        What is left at the end and does not fill a step is a last, smaller step. Asked to stop while it waits, it raises
        `EndOfRows` as well, and what it had of the step is read again by who goes on.
        """
        found: list[Row] = []
        begun, dropped = dict(self.place), self.dropped
        while len(found) < self._per_step:
            try:
                shard = self._next_shard(len(found))
            except EndOfRows:
                self.place, self.dropped = begun, dropped
                raise
            if shard is None:
                if found:
                    return found
                self._say_why_nothing_came()
                raise EndOfRows
            self._take(shard, found, policy.version)
        self._tell(self.place["shard"], 0)
        return found

    def _say_why_nothing_came(self) -> None:
        told = self._said()
        if told.get("silent") and not told.get("dropped") and not self.place["shard"]:
            raise NothingToLearn(
                f"The stream ended without a row. Whole groups: {told['silent']}; the answers of each earned the same, or it"
                " had only one."
            )

    def _take(self, shard: Path, found: list[Row], version: int) -> None:
        skip = 0
        if shard.name == self.place["shard"]:
            skip = self.place["row"]
        else:
            check_tokenizers(stream_facts(shard).get("tokenizer"), self._tokenizer)
        for number, row in enumerate(read_rows(shard, **self._needs)):
            if number < skip:
                continue
            if len(found) == self._per_step:
                return
            self.place = {"shard": shard.name, "row": number + 1}
            if self._most_lag is not None and version - row.policy_version > self._most_lag:
                self.dropped += 1
            else:
                found.append(row)
        self.place = {"shard": shard.name, "row": -1}

    def _next_shard(self, held: int) -> Path | None:
        """The shard under way, else the next; None at the end. Raises `EndOfRows` where somebody asked to stop."""
        deadline, is_told = time.monotonic() + self._wait, False
        while True:
            ended = (self._folder / "END").exists()
            names = sorted(path.name for path in self._folder.glob("*.parquet"))
            begun = self.place["row"] >= 0
            ahead = [name for name in names if name > self.place["shard"] or (begun and name == self.place["shard"])]
            if ahead:
                return self._folder / ahead[0]
            if ended:
                return None
            if self._asked():
                raise EndOfRows
            if not is_told:
                self._tell(self.place["shard"], held)
                is_told = True
            if time.monotonic() > deadline:
                raise NoRows(f"No new shard came for {self._wait:.0f} seconds, and there is no END in {self._folder.name}/.")
            time.sleep(0.2)

    def _said(self) -> dict[str, Any]:
        said = self._folder.parent / "stream.json"
        return json.loads(said.read_text(encoding="utf-8")) if said.exists() else {}

    def measures(self) -> Measures:
        """Rows dropped so far for being too old, the share of all groups so far that taught nothing, and what the groups tell
        beside their rewards (`workers/recipes/tallies.py`) that became whole since this was asked last."""
        told = self._said()
        silent, complete = told.get("silent", 0), told.get("complete", 0)
        found = {"dropped": float(self.dropped)} | means_of(told.get("told", {}), since=self._told)
        self._told = told.get("told", {})
        return found | ({"silent": silent / (silent + complete)} if silent + complete else {})
