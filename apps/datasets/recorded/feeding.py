"""Feed of runs as JSON lines, which `apps.recipes.rows.following` turns into a trainer's stream while runs continue.

Every `runs_a_group` runs of a problem, in the order of their first lines, form a visit: its answers are compared, then it is
closed. Finished runs are written whole; live runs give single agents as soon as their groups are complete. Nothing is written
twice.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.datasets.models import TokenShard
from apps.datasets.recorded.settled import EARLY
from apps.datasets.recorded.trajectories import LeftOut
from apps.datasets.rewards import Given, Judge, RewardSource
from apps.datasets.tokens.shards import policy_version_of
from apps.datasets.versions.choosing import NothingToMake, benchmark_hashes, exclusion
from apps.datasets.versions.spec_files import line_for_stream
from apps.recipes.recipe import Training
from apps.runs.models import GRADINGS, LIVE, Run, RunStatus

#: A run becomes visible some time after it finished, because of open transactions.
OVERLAP = timedelta(minutes=2)


@dataclass(frozen=True)
class FeedPlan:
    """Selection of runs for a feed.

    `problems`: slugs, at least one. `only`: a further condition on runs. `is_early`: also feed single agents of live runs, if
    the recipe compares agents individually. `rewards`: what gives the rewards of the judge "grader". `counts_all`: a finished
    run without any trajectory still counts in its visit, whose groups then have fewer answers.
    """

    recipe: Training
    judge: Judge
    problems: Sequence[str]
    scaffold: str = ""
    runs_a_group: int = 8
    only: Q = field(default_factory=Q)
    is_early: bool = False
    rewards: RewardSource | None = None
    counts_all: bool = False


@dataclass
class Feed:
    """A growing file with one writer at a time."""

    path: Path
    wanted: FeedPlan
    left: LeftOut = field(default_factory=LeftOut)
    runs: int = 0

    def __post_init__(self) -> None:
        self._written: set[str] = set()
        self._handled: set[int] = set()
        self._played: Counter[str] = Counter()
        self._visits: dict[str, str] = {}
        self._calls: dict[str, set[str]] = {}
        self._last_seqs: dict[int, int] = {}
        self._held: dict[int, None] = {}
        self._since: datetime | None = None
        self._benchmarks = benchmark_hashes()
        if self.path.exists():
            self._read()
        else:
            self._put([{"benchmarks": sorted(self._benchmarks)}])

    def holds(self, run: str) -> bool:
        """Whether the feed contains part of a run."""
        return run in self._visits

    @property
    def waits_for_rewards(self) -> bool:
        """Whether a finished run is not written yet, because its rewards have not come."""
        return bool(self._held)

    def _read(self) -> None:
        """Read an earlier writer's lines, drop an incomplete last line, and write the missing closing lines."""
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            with self.path.open("r+b") as file:
                file.truncate(len(whole))
        due: list[dict[str, Any]] = []
        for line in map(json.loads, whole.splitlines()):
            if line.get("end"):
                raise NothingToMake(f"{self.path.name} has ended. Start a new job to feed more runs.")
            due = self._closing_lines(line) if "run" in line else [one for one in due if one != line]
        self.runs = len(self._written)
        self._put(due)

    def _closing_lines(self, line: dict[str, Any]) -> list[dict[str, Any]]:
        """Lines after a run's: they close the run's own groups, and the problem's groups after the last run of a visit."""
        run, problem, found = line["run"], line["problem_id"], line["trajectories"]
        is_new = run not in self._visits
        visit = self._visits.setdefault(run, self._visit(problem))
        self._played[problem] += is_new
        self._calls.setdefault(run, set()).update(turn["call"] for one in found for turn in one["turns"])
        if all(one.get("finished", True) for one in found):
            self._written.add(run)
            self._calls.pop(run, None)
        own = {"close": problem, "visit": visit, "under": f"{run}/"}
        is_last = is_new and self._played[problem] % self.wanted.runs_a_group == 0
        return [own, {"close": problem, "visit": visit}] if is_last else [own]

    def _visit(self, problem: str) -> str:
        return str(self._played[problem] // self.wanted.runs_a_group)

    def poll(self) -> int:
        """Append the complete groups of live runs, and the newly finished runs; return the number of finished ones.

        Raises `NothingToMake` for a run with two tokenizers.
        """
        before = self.runs
        for run in self._under_way():
            self._put(self._lines(run))
        for run in self._finished():
            given = self.wanted.rewards.given(run) if self.wanted.rewards else {}
            if given is None:
                continue
            lines = self._lines(run, given)
            self._put(lines)
            del self._held[run.pk]
            self.runs += bool(lines)
        self._report_broken()
        return self.runs - before

    def end(self) -> None:
        """Write the end of the feed."""
        self._put([{"end": True}])

    def _runs(self) -> QuerySet[Run]:
        wanted = self.wanted
        found: QuerySet[Run] = Run.objects.filter(is_authored=False, problem_version__problem__slug__in=wanted.problems)
        found = found.filter(wanted.only).exclude(preset__in=GRADINGS).select_related("problem_version__problem", "forked_from")
        return found.filter(scaffold=wanted.scaffold) if wanted.scaffold else found

    def _under_way(self) -> Iterator[Run]:
        """Live runs with new events whose agents are compared individually."""
        if not self.wanted.is_early or self.wanted.recipe.family != "agents" or self.wanted.rewards is not None:
            return
        live = self._runs().filter(status__in=LIVE, scaffold__in=EARLY).order_by("pk")
        for pk, last_seq in list(live.values_list("pk", "last_seq")):
            if self._last_seqs.get(pk) != last_seq and (run := live.filter(pk=pk).first()):
                self._last_seqs[pk] = last_seq
                yield run

    def _finished(self) -> Iterator[Run]:
        """Finished runs that are not written yet and whose rewards are not awaited, in the order in which they finished."""
        now = timezone.now()
        found = self._runs().filter(status=RunStatus.FINISHED)
        if self._since is not None:
            found = found.filter(finished_at__gte=self._since)
        for pk, name in list(found.order_by("finished_at", "pk").values_list("pk", "public_id")):
            if pk not in self._handled and str(name) not in self._written:
                self._handled.add(pk)
                self._held[pk] = None
        self._since = now - OVERLAP
        awaited = self.wanted.rewards.awaited(self._held) if self.wanted.rewards else set()
        for pk in [pk for pk in self._held if pk not in awaited]:
            yield self._runs().get(pk=pk)

    def _report_broken(self) -> None:
        """Count runs that ended early after part of them was written: their other groups stay incomplete."""
        open_ = self._visits.keys() - self._written
        for run in self._runs().filter(public_id__in=open_).exclude(status__in=(*LIVE, RunStatus.FINISHED)):
            if run.pk not in self._handled:
                self._handled.add(run.pk)
                self.left.add("the rest of a run that ended early", f"{run.title} ({run.public_id})")

    def _lines(self, run: Run, given: Mapping[str, Given] | None = None) -> list[dict[str, Any]]:
        name, is_under_way = str(run.public_id), run.status != RunStatus.FINISHED
        reason = exclusion(run, self._benchmarks, under_way=is_under_way)
        left = LeftOut() if is_under_way else self.left
        line = {} if reason else line_for_stream(run, self.wanted.recipe, self.wanted.judge, left, given)
        turns = self._new_turns(name, line)
        if not reason and not turns:
            reason = "a run without any trajectory"
        elif not reason and not all(turn["shard"] for turn in turns):
            reason = "a run that was not recorded for learning"
        if reason:
            if not is_under_way and not given and (turns or not self.holds(name)):
                self.left.add(reason, f"{run.title} ({name})")
            return [] if is_under_way or not self.wanted.counts_all else self._lines_without(run)
        shards = {one.uri: one for one in TokenShard.objects.filter(uri__in={turn["shard"] for turn in turns})}
        tokenizers = {one.tokenizer for one in shards.values()}
        if len(tokenizers) > 1:
            raise NothingToMake(f"The run {name} has tokens of {len(tokenizers)} tokenizers, so it cannot be fed.")
        for turn in turns:
            turn["policy_version"] = policy_version_of(shards[turn["shard"]].policy)
        visit = self._visits.get(name) or self._visit(line["problem_id"])
        line |= {"run": name, "visit": visit, "tokenizer": tokenizers.pop()}
        return [line, *self._closing_lines(line)]

    def _lines_without(self, run: Run) -> list[dict[str, Any]]:
        """Lines of a finished run that gives no rows: its groups are compared without it."""
        name, version = str(run.public_id), run.problem_version
        problem = f"{version.problem.public_id}@{version.number}"
        line = {"run": name, "problem_id": problem, "visit": self._visits.get(name) or self._visit(problem), "trajectories": []}
        return [line, *self._closing_lines(line)]

    def _new_turns(self, name: str, line: dict[str, Any]) -> list[dict[str, Any]]:
        """Remove from a line the turns written before; return the remaining ones."""
        written = self._calls.get(name, set())
        for one in line.get("trajectories", ()) if written else ():
            one |= {"first": len(written), "turns": [turn for turn in one["turns"] if turn["call"] not in written]}
        return [turn for one in line.get("trajectories", ()) for turn in one["turns"]]

    def _put(self, lines: Sequence[dict[str, Any]]) -> None:
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        with self.path.open("ab") as file:
            file.write(text.encode())
