"""Rows for a trainer that learns while others still write: a group becomes a shard of its `stream` source once it is whole.

A group is handed over by itself, not with the trajectory it is part of (MarsRL §3.3). What has been written stands in the
shards (who is in them, counts), so a producer that was killed takes everything again and writes nothing twice. One a job.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from workers.datasets.pieces import Carried, Piece
from workers.datasets.stream_order import StreamCounts, StreamOrder
from workers.datasets.tokens import has_own
from workers.datasets.writing import RowWriter, put
from workers.learning.arrays import NothingToLearn, NotLearnable
from workers.learning.rows import Row
from workers.recipes.registry import OF_TURNS, RECIPES
from workers.recipes.tallies import Tally, added, tally_of
from workers.recipes.trajectory import Trajectory

STATUS = "stream.json"
_ABOUT = b"stream"
_WHOLE = -1


class Key(NamedTuple):
    """A group. `visit` tells apart the times that a problem is played, `role` is empty where trajectories are compared."""

    visit: str
    role: str
    group: str


def policy_version(job: Path) -> int:
    """The newest version that the trainer has handed over, 0 before the first."""
    return max((int(path.name) for path in (job / "policy").glob("*") if path.name.isdigit()), default=0)


class Producer:
    """Keeps groups until they are whole. A context manager: the job's folder is its own until it is left."""

    def __init__(self, job: Path, order: StreamOrder) -> None:
        """Raises `NotLearnable` where another producer is at work or the stream has ended."""
        self._job, self._order, self._recipe = job, order, RECIPES[order.recipe]
        self._rows = job / "rows"
        self._rows.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(job / ".stream.lock", os.O_CREAT | os.O_RDWR)
        try:
            self._begin()
        except BaseException:
            os.close(self._lock)
            raise

    def _begin(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as held:
            raise NotLearnable(f"Another producer writes into {self._job.name}/rows.") from held
        if (self._rows / "END").exists():
            raise NotLearnable(f"The stream of {self._job.name}/ has ended: rows/END is there.")
        shutil.rmtree(self._job / ".stream", ignore_errors=True)
        self.counts = StreamCounts()
        self._waiting: dict[Key, dict[tuple[str, int], Trajectory]] = {}
        self._carried = Carried(self._order.segments)
        self._gone: set[Key] = set()
        self._quiet: set[tuple[str, str]] = set()
        self._seen: set[tuple[str, str, int]] = set()
        self._shards = 0
        self._tokenizer = self._order.tokenizer
        for path in sorted(self._rows.glob("*.parquet")):
            self._remember(path)

    def __enter__(self) -> "Producer":
        self.tell("running")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            ended = (self._rows / "END").exists()
            self.tell("failed" if error else "ended" if ended else "stopped", str(error or ""))
        finally:
            os.close(self._lock)

    def take(
        self, one: Trajectory, *, visit: str = "", finished: bool = True, tokenizer: str | None = None, first: int = 0
    ) -> list[str]:
        """The shards that came of it. A trajectory may come again with more turns; `first` is the place of its first turn here.

        Where groups are of trajectories it counts once it is `finished`. Raises `NotLearnable`, and nothing of that group is
        written: another tokenizer, a turn without reward or group, and what the recipe refuses.
        """
        self._check(tokenizer)
        if self._order.recipe not in OF_TURNS:
            return self._add(Key(visit, "", one.problem_id), one, _WHOLE) if finished else []
        written = []
        for place, turn in enumerate(one.turns, first):
            if self._order.recipe == "rc_rl" and turn.kind == "summary":
                continue
            if turn.reward is None or not turn.group:
                raise NotLearnable(f"Trajectory {one.id}, turn {place} ({turn.role}): it needs a reward and its group.")
            written += self._add(Key(visit, turn.role, turn.group), replace(one, turns=(turn,)), place)
        return written

    def take_piece(self, piece: Piece, *, visit: str = "", tokenizer: str | None = None) -> list[str]:
        """A segment of an answer; the answer joins its group when it is done, one at the cap with reward 0.

        Raises `NotLearnable` as `take`, for a piece out of turn, and for a second turn where whole trajectories are compared.
        """
        self._check(tokenizer)
        if piece.place and self._order.recipe not in OF_TURNS:
            raise NotLearnable(f"Trajectory {piece.trajectory.id}: with segments, trajectories of this recipe have one turn.")
        whole = self._carried.take(piece, visit)
        return self.take(whole, visit=visit, first=piece.place) if whole else []

    def close_problem(self, problem_id: str, *, visit: str = "", under: str = "") -> list[str]:
        """No more comes for a problem, or for its groups whose name begins with `under`: hand them over as they are."""
        of_it = [key for key, parts in self._waiting.items() if key.visit == visit and _problem(parts) == problem_id]
        return [name for key in of_it if key.group.startswith(under) for name in self._release(key)]

    def end(self) -> None:
        """No more comes at all. Groups that are not whole are left out and counted."""
        self.counts.unfinished += len(self._waiting)
        self._waiting.clear()
        self.tell("running")  # Whoever meets the end may ask at once what there was.
        put(self._rows / "END", "")

    def tell(self, state: str, message: str = "") -> None:
        """Write `stream.json`."""
        said = {"format": 1, "state": state, "message": message, "waiting": len(self._waiting), "carried": len(self._carried)}
        said |= vars(self.counts) | {"shards": self._shards, "policy": policy_version(self._job), "updated": time.time()}
        put(self._job / STATUS, json.dumps(said, ensure_ascii=False) + "\n")

    def _check(self, tokenizer: str | None) -> None:
        if (self._rows / "END").exists():
            raise NotLearnable("The stream has ended; it takes nothing more.")
        if tokenizer and self._tokenizer and tokenizer != self._tokenizer:
            whose = "the job's" if self._order.tokenizer else "what came before"
            raise NotLearnable(
                f"It was written with another tokenizer ({tokenizer[:12]}…) than {whose} ({self._tokenizer[:12]}…)."
            )
        self._tokenizer = tokenizer or self._tokenizer

    def _add(self, key: Key, one: Trajectory, place: int) -> list[str]:
        mark = (key.visit, one.id, place)
        if mark in self._seen:
            return []
        self._seen.add(mark)
        if key in self._gone:
            self.counts.late += 1
            return []
        parts = self._waiting.setdefault(key, {})
        parts[one.id, place] = one
        size = self._order.size(key.role)
        return self._release(key) if 0 < size <= len(parts) else []

    def _release(self, key: Key) -> list[str]:
        parts = self._waiting.pop(key)
        self._gone.add(key)
        joined = _joined(parts)
        try:
            rows = [_placed(row, key, parts) for row in self._recipe.rows(joined, **self._order.options) if has_own(row)]
            self._quiet.clear()
            return self._hand_over(rows, key, parts, self._told(key, joined, is_silent=False))
        except NothingToLearn:
            self._quiet.add((key.visit, _problem(parts)))
            self.counts.take_silent(self._told(key, joined, is_silent=True), len(self._quiet))
            return []
        except NotLearnable as problem:
            raise type(problem)(f"{_problem(parts)}, {key.role or 'trajectories'} of {key.group}: {problem}") from problem

    def _told(self, key: Key, joined: Sequence[Trajectory], *, is_silent: bool) -> Tally:
        silent: Tally = {f"role/{key.role}/silent": (float(is_silent), 1.0)} if key.role else {}
        return added(silent, tally_of(self._order.recipe, joined, self._order.options))

    def _hand_over(self, rows: Sequence[Row], key: Key, parts: Mapping[tuple[str, int], Trajectory], told: Tally) -> list[str]:
        kept, version = rows, policy_version(self._job)
        if self._order.most_lag is not None:
            kept = [row for row in rows if version - row.policy_version <= self._order.most_lag]
        about = {
            "key": key,
            "parts": list(parts),
            "rows": len(kept),
            "dropped": len(rows) - len(kept),
            "truncated": sum(turn.finish_reason == "length" for one in parts.values() for turn in one.turns),
            "told": told,
            "tokenizer": self._tokenizer,
        }
        name = self._write(kept, about) if kept else None
        self.counts.take(key.role, about)
        return [name] if name else []

    def _write(self, rows: Sequence[Row], about: Mapping[str, Any]) -> str:
        training = self._recipe.training
        beside = self._job / ".stream"
        needs = {
            "needs_logprobs": training.needs_logprobs,
            "needs_advantage": training.needs_advantage,
            "needs_reward": training.needs_reward,
        }
        writer = RowWriter(beside, {_ABOUT: json.dumps(about).encode()}, rows_a_file=len(rows), **needs)
        try:
            for row in rows:
                writer.add(row)
            writer.end()
            name = f"{self._shards:08}.parquet"
            (beside / "00000.parquet").replace(self._rows / name)
        finally:
            writer.close()
            shutil.rmtree(beside, ignore_errors=True)
        self._shards += 1
        return name

    def _remember(self, path: Path) -> None:
        """A shard of an earlier producer. Raises `NotLearnable` for one that is of no producer."""
        about = (pq.read_schema(path).metadata or {}).get(_ABOUT)
        if about is None or not path.stem.isdigit():
            raise NotLearnable(f"{path.name} in {self._job.name}/rows was not written by a producer; take a folder of its own.")
        told = json.loads(about)
        key = Key(*told["key"])
        self._gone.add(key)
        self._seen.update((key.visit, name, place) for name, place in told["parts"])
        self._shards = int(path.stem) + 1
        self.counts.take(key.role, told)
        self._tokenizer = self._tokenizer or told.get("tokenizer")


def _problem(parts: Mapping[tuple[str, int], Trajectory]) -> str:
    return next(iter(parts.values())).problem_id


def _joined(parts: Mapping[tuple[str, int], Trajectory]) -> list[Trajectory]:
    """One trajectory for all the turns that it has in the group."""
    found: dict[str, Trajectory] = {}
    for (name, _), one in parts.items():
        known = found.get(name)
        found[name] = replace(known, turns=(*known.turns, *one.turns)) if known else one
    return list(found.values())


def _placed(row: Row, key: Key, parts: Mapping[tuple[str, int], Trajectory]) -> Row:
    """The row with its turn's place in the whole trajectory, and a group that is this visit's alone."""
    group = f"{row.group_id}#{key.visit}" if key.visit else row.group_id
    if (row.trajectory_id, _WHOLE) in parts:
        return replace(row, group_id=group)
    places = [place for name, place in parts if name == row.trajectory_id]
    return replace(row, group_id=group, step_index=places[row.step_index])
