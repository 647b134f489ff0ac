"""Sources of a step's rows: stored rows, arriving shards, or a toy played by the model."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from apps.recipes.mathematics.arrays import NothingToLearn, NotLearnable
from apps.recipes.mathematics.rows import Row
from apps.recipes.tallies import TALLY_KEY, means_of
from apps.recipes.trajectory import Trajectory, Turn
from workers.training.measuring.measures import measures_of_rollouts
from workers.training.policy import Policy
from workers.training.problems import NoRows, check_tokenizers
from workers.training.rows.tables import read_rows, stream_facts

Measures = Mapping[str, float]


class EndOfRows(Exception):
    """There are no more rows, so the job is done. The message, if any, is for users."""


class RowSource(Protocol):
    """Source of the rows of an optimiser step. Rows depend on the step and the policy only, so that a job can be resumed."""

    def rows(self, step: int, policy: Policy) -> Sequence[Row]:
        """Rows of a step, counted from 0. Raises `NotLearnable`, `BadRows`, `NoRows` or `EndOfRows`."""
        ...

    def measures(self) -> Measures:
        """Metrics of the last rows."""
        ...


class StoredRows:
    """`per_step` rows at a time in a random order, with a new order in each pass."""

    def __init__(self, rows: Sequence[Row], per_step: int, *, seed: int = 0, places: Sequence[int] | None = None) -> None:
        """`places`: indices of the rows to train on; default: all."""
        if not rows:
            raise NotLearnable("There are no rows to learn from.")
        self._rows, self._per_step, self._seed = rows, per_step, seed
        self._places = range(len(rows)) if places is None else places
        trained = set(self._places)
        self._held_out = [place for place in range(len(rows)) if place not in trained]

    def held_out(self, most: int) -> list[Row]:
        """Rows not trained on: all, or a random choice of `most`."""
        places = self._held_out
        if len(places) > most:
            places = sorted(np.random.default_rng(self._seed).choice(places, most, replace=False))
        return [self._rows[int(place)] for place in places]

    def rows(self, step: int, policy: Policy) -> Sequence[Row]:
        """Exactly `per_step` rows; a pass that ends within a step is followed by the next."""
        first = step * self._per_step
        places = range(first, first + self._per_step)
        size = len(self._places)
        orders = {place // size: None for place in places}
        drawn = {number: np.random.default_rng([self._seed, number]).permutation(size) for number in orders}
        return [self._rows[self._places[int(drawn[place // size][place % size])]] for place in places]

    def measures(self) -> Measures:
        """None; the step determines the number of passes."""
        return {}


class Toy(Protocol):
    """A small environment played by the model."""

    def rollouts(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """Trajectories of the model, of about `rows` rows."""
        ...

    def demonstrations(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """Trajectories of an imperfect teacher, for a cold start."""
        ...

    def measures(self) -> Measures:
        """Metrics of the last rollouts."""
        ...


class ToyRows:
    """Rollouts of a toy through a recipe.

    While all groups are silent, further batches are played, ten at most; with `refills` until the step is full, which is
    DAPO's dynamic sampling.
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
        """Rows of new rollouts. Raises `NotLearnable` after ten silent batches, `EndOfRows` where all answers were right."""
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
            raise EndOfRows(f"The toy is solved: all answers of {self.most_batches} batches got full marks.")
        raise why

    def measures(self) -> Measures:
        """The toy's metrics under `toy/`, and metrics of all groups of the step, including silent batches."""
        if self._demonstrations:
            return {}
        # Batches may repeat names of problems and groups, so number them by batch.
        numbered = [
            replace(one, problem_id=f"{number}/{one.problem_id}", turns=[_numbered(turn, number) for turn in one.turns])
            for number, batch in enumerate(self._played)
            for one in batch
        ]
        return measures_of_rollouts(numbered) | {f"toy/{name}": value for name, value in self._toy.measures().items()}


def _lowest(one: Trajectory) -> float:
    """Lowest reward of individually compared turns, else the reward of the episode; full marks of a toy are 1."""
    return min((turn.reward for turn in one.turns if turn.group and turn.reward is not None), default=one.reward)


def _numbered(turn: Turn, batch: int) -> Turn:
    return replace(turn, group=f"{batch}/{turn.group}") if turn.group else turn


class StreamedRows:
    """Shards of a folder as they arrive, in order of their names, each row once.

    Rows more than `most_lag` versions behind the policy are dropped and counted. Checkpoints store the position in the stream
    (`place`); it cannot be computed from the step, because dropped rows depend on arrival times.
    """

    def __init__(
        self,
        folder: Path,
        per_step: int,
        *,
        wait: float,
        most_lag: int | None,
        asked: Callable[[], bool] = lambda: False,
        report: Callable[[str, int], None] = lambda *_: None,
        tokenizer: str = "",
        **needs: bool,
    ) -> None:
        """`asked`: whether to stop waiting. `report(shard, held)`: gets the current shard and the rows held for a step."""
        self._report = report
        self._folder, self._per_step, self._wait, self._most_lag, self._needs = folder, per_step, wait, most_lag, needs
        self._asked, self._tokenizer = asked, tokenizer
        self.place: dict[str, Any] = {"shard": "", "row": 0}
        self.dropped = 0
        self._tally: Mapping[str, Sequence[float]] = {}

    def rows(self, step: int, policy: Policy) -> Sequence[Row]:
        """Wait for `per_step` rows.

        Rows left at the end form a last, smaller step. A stop while waiting also raises `EndOfRows`; a resumed job reads the
        rows of that step again. Raises `NoRows` after `wait` seconds without a new shard, `EndOfRows` at the end,
        `NothingToLearn` at the end of a stream whose groups were all silent, and `OtherTokenizer`.
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
                self._check_silent()
                raise EndOfRows
            self._take(shard, found, policy.version)
        self._report(self.place["shard"], 0)
        return found

    def _check_silent(self) -> None:
        state = self._producer_state()
        if state.get("silent") and not state.get("dropped") and not self.place["shard"]:
            raise NothingToLearn(
                f"The stream ended without rows. Complete groups: {state['silent']}; in each, all answers earned the same, or"
                " there was a single answer."
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
        """Current shard, else the next; None at the end. Raises `EndOfRows` after a request to stop."""
        deadline, is_reported = time.monotonic() + self._wait, False
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
            if not is_reported:
                self._report(self.place["shard"], held)
                is_reported = True
            if time.monotonic() > deadline:
                raise NoRows(f"No new shard arrived within {self._wait:.0f} s, and there is no END in {self._folder.name}/.")
            time.sleep(0.2)

    def _producer_state(self) -> dict[str, Any]:
        path = self._folder.parent / "stream.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def measures(self) -> Measures:
        """Number of rows dropped as too old and share of silent groups, both so far; tally of groups since the last call."""
        state = self._producer_state()
        silent, complete, tally = state.get("silent", 0), state.get("complete", 0), state.get(TALLY_KEY, {})
        found = {"dropped": float(self.dropped)} | means_of(tally, since=self._tally)
        self._tally = tally
        return found | ({"silent": silent / (silent + complete)} if silent + complete else {})
