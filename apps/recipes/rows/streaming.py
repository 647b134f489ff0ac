"""Producer of a trainer's `stream` source: a group becomes a shard as soon as it is complete.

Groups are written individually, before their trajectories end (MarsRL §3.3). The metadata of the shards records their answers
and counts, so a restarted producer takes everything again and writes nothing twice. A job has one producer.
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

from apps.recipes.mathematics.arrays import NothingToLearn, NotLearnable
from apps.recipes.mathematics.rows import Row
from apps.recipes.registry import OF_TURNS, RECIPES
from apps.recipes.rows.pieces import Carried, Piece
from apps.recipes.rows.stream_order import StreamCounts, StreamOrder
from apps.recipes.rows.tokens import has_own
from apps.recipes.rows.writing import RowWriter, put
from apps.recipes.tallies import TALLY_KEY, Tally, added, tally_of
from apps.recipes.trajectory import Trajectory

STATUS = "stream.json"
#: Visits that taught nothing because all answers got full rewards, as lines of JSON.
SOLVED = "solved.jsonl"
_ABOUT = b"stream"
_WHOLE = -1


class Key(NamedTuple):
    """Key of a group. `visit` distinguishes the visits of a problem; `role` is empty where trajectories are compared."""

    visit: str
    role: str
    group: str


def policy_version(job: Path) -> int:
    """Newest version published by the trainer; 0 before the first."""
    return max((int(path.name) for path in (job / "policy").glob("*") if path.name.isdigit()), default=0)


class Producer:
    """Collects groups until they are complete. A context manager, which owns the job's folder until its exit."""

    def __init__(self, job: Path, order: StreamOrder) -> None:
        """Lock the folder. Raises `NotLearnable` where another producer is running or the stream has ended."""
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
            raise NotLearnable(f"Another producer is writing to {self._job.name}/rows.") from held
        if (self._rows / "END").exists():
            raise NotLearnable(f"The stream of {self._job.name}/ has ended: rows/END exists.")
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
        self.write_status("running")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            ended = (self._rows / "END").exists()
            self.write_status("failed" if error else "ended" if ended else "stopped", str(error or ""))
        finally:
            os.close(self._lock)

    def take(
        self, one: Trajectory, *, visit: str = "", finished: bool = True, tokenizer: str | None = None, first: int = 0
    ) -> list[str]:
        """Add a trajectory and return the names of new shards.

        A trajectory may be added again with more turns; `first` is the place of its first turn here. Where trajectories are
        compared, it counts once it is `finished`. Raises `NotLearnable` and does not write the group: for another tokenizer, a
        turn without reward or group, and what the recipe rejects.
        """
        self._check(tokenizer)
        if self._order.recipe not in OF_TURNS:
            return self._add(Key(visit, "", one.problem_id), one, _WHOLE) if finished else []
        written = []
        for place, turn in enumerate(one.turns, first):
            if self._order.recipe == "rc_rl" and turn.kind == "summary":
                continue
            if turn.reward is None or not turn.group:
                raise NotLearnable(f"Trajectory {one.id}, turn {place} ({turn.role}): it needs a reward and a group.")
            written += self._add(Key(visit, turn.role, turn.group), replace(one, turns=(turn,)), place)
        return written

    def take_piece(self, piece: Piece, *, visit: str = "", tokenizer: str | None = None) -> list[str]:
        """Add a segment of an answer; the answer joins its group once it is done, with reward 0 if cut off at the cap.

        Raises `NotLearnable` like `take`, for a piece out of order, and for a second turn where trajectories are compared.
        """
        self._check(tokenizer)
        if piece.place and self._order.recipe not in OF_TURNS:
            raise NotLearnable(f"Trajectory {piece.trajectory.id}: in segments, trajectories of this recipe have one turn.")
        whole = self._carried.take(piece, visit)
        return self.take(whole, visit=visit, first=piece.place) if whole else []

    def close_problem(self, problem_id: str, *, visit: str = "", under: str = "") -> list[str]:
        """Write the groups of a problem, or those whose name begins with `under`, as they are: no more answers will come."""
        of_it = [key for key, parts in self._waiting.items() if key.visit == visit and _problem(parts) == problem_id]
        return [name for key in of_it if key.group.startswith(under) for name in self._release(key)]

    def end(self) -> None:
        """End the stream; incomplete groups are left out and counted."""
        self.counts.unfinished += len(self._waiting)
        self._waiting.clear()
        self.write_status("running")  # Before END, so that a reader of END finds the final counts.
        put(self._rows / "END", "")

    def write_status(self, state: str, message: str = "") -> None:
        """Write `stream.json`."""
        status = {"format": 1, "state": state, "message": message, "waiting": len(self._waiting), "carried": len(self._carried)}
        status |= self.counts.as_json()
        status |= {"shards": self._shards, "policy": policy_version(self._job), "updated": time.time()}
        put(self._job / STATUS, json.dumps(status, ensure_ascii=False) + "\n")

    def _check(self, tokenizer: str | None) -> None:
        if (self._rows / "END").exists():
            raise NotLearnable("The stream has ended and takes no more rows.")
        if tokenizer and self._tokenizer and tokenizer != self._tokenizer:
            whose = "the job's" if self._order.tokenizer else "the earlier rows"
            raise NotLearnable(
                f"A run was written with another tokenizer ({tokenizer[:12]}…) than {whose} ({self._tokenizer[:12]}…)."
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
            return self._write_group(rows, key, parts, self._tally(key, joined, is_silent=False))
        except NothingToLearn:
            self._quiet.add((key.visit, _problem(parts)))
            self._note_solved(key, joined)
            self.counts.take_silent(self._tally(key, joined, is_silent=True), len(self._quiet))
            return []
        except NotLearnable as problem:
            raise type(problem)(f"{_problem(parts)}, {key.role or 'trajectories'} of {key.group}: {problem}") from problem

    def _note_solved(self, key: Key, joined: Sequence[Trajectory]) -> None:
        """Append a visit whose answers all got full rewards to `SOLVED`; a restarted producer may append it again."""
        rewards = [turn.reward for one in joined for turn in one.turns[-1:] if turn.reward is not None]
        rewards = rewards if self._order.recipe in OF_TURNS else [one.reward for one in joined]
        if key.role not in ("", "solver") or not rewards or min(rewards) < self._recipe.training.scale:
            return
        line = json.dumps({"problem": joined[0].problem_id, "visit": key.visit})
        with (self._job / SOLVED).open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def _tally(self, key: Key, joined: Sequence[Trajectory], *, is_silent: bool) -> Tally:
        silent: Tally = {f"role/{key.role}/silent": (float(is_silent), 1.0)} if key.role else {}
        return added(silent, tally_of(self._order.recipe, joined, self._order.options))

    def _write_group(
        self, rows: Sequence[Row], key: Key, parts: Mapping[tuple[str, int], Trajectory], tally: Tally
    ) -> list[str]:
        kept, version = rows, policy_version(self._job)
        if self._order.most_lag is not None:
            kept = [row for row in rows if version - row.policy_version <= self._order.most_lag]
        about = {
            "key": key,
            "parts": list(parts),
            "rows": len(kept),
            "dropped": len(rows) - len(kept),
            "truncated": sum(turn.finish_reason == "length" for one in parts.values() for turn in one.turns),
            TALLY_KEY: tally,
            "tokenizer": self._tokenizer,
        }
        name = self._write(kept, about) if kept else None
        self.counts.take(key.role, about)
        return [name] if name else []

    def _write(self, rows: Sequence[Row], about: Mapping[str, Any]) -> str:
        training = self._recipe.training
        temporary = self._job / ".stream"
        needs = {
            "needs_logprobs": training.needs_logprobs,
            "needs_advantage": training.needs_advantage,
            "needs_reward": training.needs_reward,
        }
        writer = RowWriter(temporary, {_ABOUT: json.dumps(about).encode()}, rows_a_file=len(rows), **needs)
        try:
            for row in rows:
                writer.add(row)
            writer.end()
            name = f"{self._shards:08}.parquet"
            (temporary / "00000.parquet").replace(self._rows / name)
        finally:
            writer.close()
            shutil.rmtree(temporary, ignore_errors=True)
        self._shards += 1
        return name

    def _remember(self, path: Path) -> None:
        """Restore the state from an earlier producer's shard. Raises `NotLearnable` for any other file."""
        metadata = (pq.read_schema(path).metadata or {}).get(_ABOUT)
        if metadata is None or not path.stem.isdigit():
            raise NotLearnable(f"{path.name} in {self._job.name}/rows was not written by a producer. Use a separate folder.")
        about = json.loads(metadata)
        key = Key(*about["key"])
        self._gone.add(key)
        self._seen.update((key.visit, name, place) for name, place in about["parts"])
        self._shards = int(path.stem) + 1
        self.counts.take(key.role, about)
        self._tokenizer = self._tokenizer or about.get("tokenizer")


def _problem(parts: Mapping[tuple[str, int], Trajectory]) -> str:
    return next(iter(parts.values())).problem_id


def _joined(parts: Mapping[tuple[str, int], Trajectory]) -> list[Trajectory]:
    """Merge the turns that a trajectory has in the group."""
    found: dict[str, Trajectory] = {}
    for (name, _), one in parts.items():
        known = found.get(name)
        found[name] = replace(known, turns=(*known.turns, *one.turns)) if known else one
    return list(found.values())


def _placed(row: Row, key: Key, parts: Mapping[tuple[str, int], Trajectory]) -> Row:
    """Set a row's place in the whole trajectory, and make its group unique to the visit."""
    group = f"{row.group_id}#{key.visit}" if key.visit else row.group_id
    if (row.trajectory_id, _WHOLE) in parts:
        return replace(row, group_id=group)
    places = [place for name, place in parts if name == row.trajectory_id]
    return replace(row, group_id=group, step_index=places[row.step_index])
