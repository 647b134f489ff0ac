"""Finished runs as lines of a feed, which `workers.datasets.following` turns into a trainer's stream while both go on.

Every `runs_a_group` runs of a problem, in the order in which they finish, are one visit: its answers are compared with each
other and then it is closed. What the feed already holds is not written again.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.datasets.choosing import NothingToMake, benchmark_hashes, unfit
from apps.datasets.models import TokenShard
from apps.datasets.recipes import Judge, Recipe
from apps.datasets.spec_files import line_for_stream
from apps.datasets.trajectories import Left
from apps.runs.models import BATCHED, Run, RunStatus

#: A run is seen a little later than it finished: transactions of others.
OVERLAP = timedelta(minutes=2)
#: The policy of a shard names its version where weights or adapter lie in, or have the revision, `policy/N`.
_VERSION = re.compile(r"(?:^|[/ ])policy/(\d+)(?=$| )")


@dataclass(frozen=True)
class Wanted:
    """Which runs are fed. `problems` are slugs; at least one. `only`: a condition on runs beside them."""

    recipe: Recipe
    judge: Judge
    problems: Sequence[str]
    scaffold: str = ""
    runs_a_group: int = 8
    only: Q = field(default_factory=Q)


def policy_version_of(policy: str) -> int:
    """The version that a recorded policy names, 0 where it names none (the base)."""
    found = _VERSION.findall(policy)
    return int(found[-1]) if found else 0


@dataclass
class Feed:
    """A file that grows. One writer at a time."""

    path: Path
    wanted: Wanted
    left: Left = field(default_factory=Left)
    runs: int = 0

    def __post_init__(self) -> None:
        self._written: set[str] = set()
        self._passed: set[int] = set()
        self._played: Counter[str] = Counter()
        self._since: datetime | None = None
        self._benchmarks = benchmark_hashes()
        if self.path.exists():
            self._read()
        else:
            self._put([{"benchmarks": sorted(self._benchmarks)}])

    def _read(self) -> None:
        """What an earlier writer left. Half a line at the end goes; what was to be closed is closed."""
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            with self.path.open("r+b") as file:
                file.truncate(len(whole))
        due: list[dict[str, Any]] = []
        for line in map(json.loads, whole.splitlines()):
            if line.get("end"):
                raise NothingToMake(f"{self.path.name} has ended; a stream goes on no further.")
            due = self._closes(line["run"], line["problem_id"]) if "run" in line else [one for one in due if one != line]
        self.runs = len(self._written)
        self._put(due)

    def _closes(self, run: str, problem: str) -> list[dict[str, Any]]:
        """The lines that follow a run's: its own groups are whole, and the problem's with the last run of a visit."""
        visit = self._visit(problem)
        self._played[problem] += 1
        self._written.add(run)
        own = {"close": problem, "visit": visit, "under": f"{run}/"}
        is_last = self._played[problem] % self.wanted.runs_a_group == 0
        return [own, {"close": problem, "visit": visit}] if is_last else [own]

    def _visit(self, problem: str) -> str:
        return str(self._played[problem] // self.wanted.runs_a_group)

    def look(self) -> int:
        """Append the runs that finished meanwhile; how many. Raises `NothingToMake` for a run of two tokenizers."""
        before = self.runs
        for run in self._finished():
            lines = self._lines(run)
            self._put(lines)
            self.runs += bool(lines)
        return self.runs - before

    def end(self) -> None:
        """No more comes."""
        self._put([{"end": True}])

    def _finished(self) -> Iterator[Run]:
        now = timezone.now()
        found: QuerySet[Run] = Run.objects.filter(
            status=RunStatus.FINISHED, is_authored=False, problem_version__problem__slug__in=self.wanted.problems
        ).filter(self.wanted.only)
        found = found.exclude(preset=BATCHED)
        if self.wanted.scaffold:
            found = found.filter(scaffold=self.wanted.scaffold)
        if self._since is not None:
            found = found.filter(finished_at__gte=self._since)
        ordered = found.select_related("problem_version__problem", "forked_from").order_by("finished_at", "pk")
        for run in ordered:
            if run.pk not in self._passed and str(run.public_id) not in self._written:
                self._passed.add(run.pk)
                yield run
        self._since = now - OVERLAP

    def _lines(self, run: Run) -> list[dict[str, Any]]:
        reason = unfit(run, self._benchmarks)
        line = {} if reason else line_for_stream(run, self.wanted.recipe, self.wanted.judge, self.left)
        turns = [turn for one in line.get("trajectories", ()) for turn in one["turns"]]
        if not reason and not turns:
            reason = "a run without any trajectory"
        elif not reason and not all(turn["shard"] for turn in turns):
            reason = "a run that was not recorded for learning"
        if reason:
            self.left.out(reason, f"{run.title} ({run.public_id})")
            return []
        shards = {one.uri: one for one in TokenShard.objects.filter(uri__in={turn["shard"] for turn in turns})}
        tokenizers = {one.tokenizer for one in shards.values()}
        if len(tokenizers) > 1:
            raise NothingToMake(f"The run {run.public_id} was written with {len(tokenizers)} tokenizers.")
        for turn in turns:
            turn["policy_version"] = policy_version_of(shards[turn["shard"]].policy)
        problem, name = line["problem_id"], str(run.public_id)
        line |= {"run": name, "visit": self._visit(problem), "tokenizer": tokenizers.pop()}
        return [line, *self._closes(name, problem)]

    def _put(self, lines: Sequence[dict[str, Any]]) -> None:
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        with self.path.open("ab") as file:
            file.write(text.encode())
