"""Inspect logs (`.eval`, schema version 2): one a method, team and budget. A log is a ZIP of JSON files, deflated.

Experiment = `eval_set_id`, problem set = task, scaffold = solver, repeat + 1 = epoch, budget = `token_limit`, scorer = scorer.
"""

import json
import math
import re
import uuid
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from itertools import product
from typing import Any, BinaryIO

from django.db.models import QuerySet

from apps.experiments.models import Experiment, ExperimentState, SolvingCell, SolvingState
from apps.experiments.solving.files.inspect_samples import Sample, samples_of, summary_of
from apps.experiments.solving.manifest import Manifest
from apps.experiments.solving.matrix import Axes
from apps.experiments.solving.services import manifest_stored
from apps.reasoning.version import VERSION

SCHEMA = 2
REDUCER = "mean"
_ENDED = (SolvingState.FINISHED, SolvingState.FAILED, SolvingState.CANCELLED)


@dataclass(frozen=True)
class Log:
    """The method, team and budget of a log. `number`: from 1 in the order of the manifest."""

    number: int
    method: str
    team: str
    budget: int

    @property
    def stem(self) -> str:
        """A file name without its ending, unique in the experiment."""
        words = re.sub(r"[^A-Za-z0-9]", "-", f"{self.method}-{self.team}")
        return f"{self.number}-{words}-budget-{self.budget}".lower()


@dataclass
class _Tally:
    """What the results need of samples: shares by scorer and problem, and counts."""

    shares: dict[str, dict[str, list[float]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    summaries: list[Sample] = field(default_factory=list)
    usage: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(int)))

    def add(self, sample: Sample) -> None:
        self.summaries.append(summary_of(sample))
        for name, score in sample["scores"].items():
            self.shares[name][sample["id"]].append(score["value"])
        for model, used in sample["model_usage"].items():
            for kind, tokens in used.items():
                self.usage[model][kind] += tokens


def logs_of(experiment: Experiment) -> list[Log]:
    """The logs of an experiment that have a cell."""
    manifest = manifest_stored(experiment)
    known = set(experiment.solving_cells.order_by().values_list("method", "team", "budget").distinct())
    keys = product((one.name for one in manifest.methods), (one.name for one in manifest.teams), range(len(manifest.budgets)))
    return [Log(number, *key) for number, key in enumerate(keys, 1) if key in known]


def log_write(experiment: Experiment, log: Log, out: BinaryIO, hidden: Set[int], *, calls: bool = False) -> None:
    """Write the log of the ended cells, without those on the items `hidden`. `calls`: with the texts of all model calls."""
    manifest, tally = manifest_stored(experiment), _Tally()
    cells = experiment.solving_cells.filter(method=log.method, team=log.team, budget=log.budget).exclude(item__in=hidden)
    spec = spec_of(experiment, manifest, log, cells)
    plan = {"name": "plan", "steps": [{"solver": spec["solver"], "params": spec["solver_args"]}], "config": {}}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        _put(archive, "_journal/start.json", {"version": SCHEMA, "eval": spec, "plan": plan})
        for sample in samples_of(_ended(cells), spec["model"], calls=calls):
            _put(archive, f"samples/{sample['id']}_epoch_{sample['epoch']}.json", sample)
            tally.add(sample)
        _put(archive, "summaries.json", tally.summaries)
        _put(archive, "reductions.json", list(_reductions(tally)))
        header = {"version": SCHEMA, "status": _status(experiment, cells), "eval": spec, "plan": plan}
        ended = max((one["completed_at"] for one in tally.summaries if "completed_at" in one), default="")
        stats = {"started_at": experiment.created_at.isoformat(), "completed_at": ended, "model_usage": tally.usage}
        _put(archive, "header.json", header | {"results": _results(cells.count(), tally), "stats": stats})


def spec_of(experiment: Experiment, manifest: Manifest, log: Log, cells: QuerySet[SolvingCell]) -> Sample:
    """The field `eval` of a log: what was run on what, with which limits."""
    axes = Axes(manifest)
    method, team, budget = axes.method(log.method), axes.team(log.team), axes.budget(log.budget)
    names = list(dict.fromkeys(cells.order_by("item__position").values_list("item__name", flat=True)))
    number = uuid.uuid5(experiment.public_id, f"{log.method}/{log.team}/{log.budget}")
    slug, version = str(experiment.problem_set).split("@")
    limits = {"token_limit": budget.tokens, "time_limit": None if budget.seconds is None else math.ceil(budget.seconds)}
    roles = {role: {"model": alias} for role, alias in team.roles.items() if role}
    arguments = {"preset": method.preset, "max_new_tokens": method.max_new_tokens, "temperature": method.temperature}
    return {
        "eval_set_id": str(experiment.public_id),
        "eval_id": str(number),
        "run_id": str(number),
        "created": experiment.created_at.isoformat(),
        "task": slug,
        "task_id": str(uuid.uuid5(experiment.public_id, str(experiment.problem_set))),
        "task_version": int(version),
        "task_display_name": experiment.problem_set.problem_set.title if experiment.problem_set else slug,
        "solver": method.scaffold,
        "solver_args": method.params | {name: value for name, value in arguments.items() if value not in (None, "")},
        "dataset": {"name": str(experiment.problem_set), "samples": len(names), "sample_ids": names, "shuffled": False},
        "model": team.roles.get("") or next(iter(team.roles.values()), "none"),
        "model_roles": roles or None,
        "config": {"epochs": manifest.repeats, "epochs_reducer": [REDUCER]}
        | {k: v for k, v in limits.items() if v is not None},
        "packages": {"lemmascope": VERSION},
        "metadata": {
            "experiment": experiment.title,
            "method": log.method,
            "team": log.team,
            "budget": budget.model_dump(mode="json", exclude_none=True),
            "seed": manifest.seed,
        },
        "scorers": [
            {"name": one.name, "options": {"kind": one.kind}, "metrics": [{"name": REDUCER}]} for one in manifest.scorers
        ],
    }


def _ended(cells: QuerySet[SolvingCell]) -> Iterator[SolvingCell]:
    ended = cells.filter(state__in=_ENDED).exclude(state=SolvingState.CANCELLED, run=None)
    found = ended.select_related("item__problem", "run").prefetch_related("scores").order_by("position")
    return found.defer("run__spec", "run__outcome", "item__problem__scheme_text").iterator(chunk_size=200)


def _status(experiment: Experiment, cells: QuerySet[SolvingCell]) -> str:
    if cells.exclude(state__in=_ENDED).exists():
        return "started"
    return "cancelled" if experiment.state == ExperimentState.CANCELLED else "success"


def _reductions(tally: _Tally) -> Iterator[Sample]:
    for scorer, by_problem in tally.shares.items():
        samples = [{"sample_id": name, "value": _mean(shares)} for name, shares in by_problem.items()]
        yield {"scorer": scorer, "reducer": REDUCER, "samples": samples}


def _results(total: int, tally: _Tally) -> Sample:
    scores = []
    for scorer, by_problem in tally.shares.items():
        means = [_mean(shares) for shares in by_problem.values()]
        scored = sum(not math.isnan(mean) for mean in means)
        metrics = {REDUCER: {"name": REDUCER, "value": _mean(means)}}
        counts = {"scored_samples": scored, "unscored_samples": len(means) - scored}
        scores.append({"name": scorer, "scorer": scorer, "reducer": REDUCER, "metrics": metrics, **counts})
    completed = sum("error" not in one for one in tally.summaries)
    return {"total_samples": total, "completed_samples": completed, "scores": scores}


def _mean(values: list[float]) -> float:
    """The mean of the values that are no NaN; NaN if there is none."""
    kept = [value for value in values if not math.isnan(value)]
    return sum(kept) / len(kept) if kept else math.nan


def _put(archive: zipfile.ZipFile, name: str, value: Any) -> None:
    archive.writestr(name, json.dumps(value, ensure_ascii=False))
