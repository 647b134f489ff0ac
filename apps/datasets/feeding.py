"""Runs as lines of a feed, which `workers.datasets.following` turns into a trainer's stream while both go on.

Every `runs_a_group` runs of a problem, in the order in which something of them was written, are one visit: its answers are
compared with each other and then it is closed. Finished runs are written whole; of those under way single agents, once their
groups are whole. What the feed already holds is not written again.
"""

import json
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
from apps.datasets.settled import EARLY
from apps.datasets.shards import policy_version_of
from apps.datasets.spec_files import line_for_stream
from apps.datasets.trajectories import Left
from apps.runs.models import BATCHED, LIVE, Run, RunStatus

#: A run is seen a little later than it finished: transactions of others.
OVERLAP = timedelta(minutes=2)


@dataclass(frozen=True)
class Wanted:
    """Which runs are fed. `problems` are slugs; at least one. `only`: a condition on runs beside them. `is_early`: also single
    agents of runs under way, where the recipe compares agents by themselves."""

    recipe: Recipe
    judge: Judge
    problems: Sequence[str]
    scaffold: str = ""
    runs_a_group: int = 8
    only: Q = field(default_factory=Q)
    is_early: bool = False


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
        self._visits: dict[str, str] = {}
        self._calls: dict[str, set[str]] = {}
        self._heard: dict[int, int] = {}
        self._since: datetime | None = None
        self._benchmarks = benchmark_hashes()
        if self.path.exists():
            self._read()
        else:
            self._put([{"benchmarks": sorted(self._benchmarks)}])

    def holds(self, run: str) -> bool:
        """Whether something of a run was written."""
        return run in self._visits

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
            due = self._closes(line) if "run" in line else [one for one in due if one != line]
        self.runs = len(self._written)
        self._put(due)

    def _closes(self, line: dict[str, Any]) -> list[dict[str, Any]]:
        """The lines that follow a run's: its own groups here are whole, and the problem's with the last run of a visit."""
        run, problem, found = line["run"], line["problem_id"], line["trajectories"]
        is_new = run not in self._visits
        visit = self._visits.setdefault(run, self._visit(problem))
        self._played[problem] += is_new
        self._calls.setdefault(run, set()).update(turn["call"] for one in found for turn in one["turns"])
        if all(one.get("finished", True) for one in found):
            self._written.add(run)
        own = {"close": problem, "visit": visit, "under": f"{run}/"}
        is_last = is_new and self._played[problem] % self.wanted.runs_a_group == 0
        return [own, {"close": problem, "visit": visit}] if is_last else [own]

    def _visit(self, problem: str) -> str:
        return str(self._played[problem] // self.wanted.runs_a_group)

    def look(self) -> int:
        """Append what is settled of the runs under way, and the runs that finished meanwhile; how many did.

        Raises `NothingToMake` for a run of two tokenizers.
        """
        before = self.runs
        for run in self._under_way():
            self._put(self._lines(run))
        for run in self._finished():
            lines = self._lines(run)
            self._put(lines)
            self.runs += bool(lines)
        self._tell_of_broken()
        return self.runs - before

    def end(self) -> None:
        """No more comes."""
        self._put([{"end": True}])

    def _runs(self) -> QuerySet[Run]:
        wanted = self.wanted
        found: QuerySet[Run] = Run.objects.filter(is_authored=False, problem_version__problem__slug__in=wanted.problems)
        found = found.filter(wanted.only).exclude(preset=BATCHED).select_related("problem_version__problem", "forked_from")
        return found.filter(scaffold=wanted.scaffold) if wanted.scaffold else found

    def _under_way(self) -> Iterator[Run]:
        """Those that have something new to say and whose agents are compared by themselves."""
        if not self.wanted.is_early or self.wanted.recipe.family != "agents":
            return
        for run in self._runs().filter(status__in=LIVE, scaffold__in=EARLY).order_by("pk"):
            if self._heard.get(run.pk) != run.last_seq:
                self._heard[run.pk] = run.last_seq
                yield run

    def _finished(self) -> Iterator[Run]:
        now = timezone.now()
        found = self._runs().filter(status=RunStatus.FINISHED)
        if self._since is not None:
            found = found.filter(finished_at__gte=self._since)
        for run in found.order_by("finished_at", "pk"):
            if run.pk not in self._passed and str(run.public_id) not in self._written:
                self._passed.add(run.pk)
                yield run
        self._since = now - OVERLAP

    def _tell_of_broken(self) -> None:
        """Runs that ended early after something of them was written: the rest of their groups will never be whole."""
        open_ = self._visits.keys() - self._written
        for run in self._runs().filter(public_id__in=open_).exclude(status__in=(*LIVE, RunStatus.FINISHED)):
            if run.pk not in self._passed:
                self._passed.add(run.pk)
                self.left.out("a run that ended early, from where it was learned from", f"{run.title} ({run.public_id})")

    def _lines(self, run: Run) -> list[dict[str, Any]]:
        name, is_under_way = str(run.public_id), run.status != RunStatus.FINISHED
        reason = unfit(run, self._benchmarks, under_way=is_under_way)
        left = Left() if is_under_way else self.left
        line = {} if reason else line_for_stream(run, self.wanted.recipe, self.wanted.judge, left)
        turns = self._new_turns(name, line)
        if not reason and not turns:
            reason = "a run without any trajectory"
        elif not reason and not all(turn["shard"] for turn in turns):
            reason = "a run that was not recorded for learning"
        if reason:
            if not is_under_way and (turns or not self.holds(name)):
                self.left.out(reason, f"{run.title} ({name})")
            return []
        shards = {one.uri: one for one in TokenShard.objects.filter(uri__in={turn["shard"] for turn in turns})}
        tokenizers = {one.tokenizer for one in shards.values()}
        if len(tokenizers) > 1:
            raise NothingToMake(f"The run {name} was written with {len(tokenizers)} tokenizers.")
        for turn in turns:
            turn["policy_version"] = policy_version_of(shards[turn["shard"]].policy)
        visit = self._visits.get(name) or self._visit(line["problem_id"])
        line |= {"run": name, "visit": visit, "tokenizer": tokenizers.pop()}
        return [line, *self._closes(line)]

    def _new_turns(self, name: str, line: dict[str, Any]) -> list[dict[str, Any]]:
        """Take the turns out of a line that were written before; those that are left."""
        written = self._calls.get(name, set())
        for one in line.get("trajectories", ()) if written else ():
            one |= {"first": len(written), "turns": [turn for turn in one["turns"] if turn["call"] not in written]}
        return [turn for one in line.get("trajectories", ()) for turn in one["turns"]]

    def _put(self, lines: Sequence[dict[str, Any]]) -> None:
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        with self.path.open("ab") as file:
            file.write(text.encode())
