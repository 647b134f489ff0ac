"""Rows of the list of jobs, and its order by a column."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db.models import F, QuerySet

from apps.learning.models import TrainingJob
from apps.recipes.registry import TRAININGS

#: Bytes read from the end of `metrics.jsonl` for its last lines.
TAIL = 16_384
NEWEST_FIRST = "-created"
#: Columns with their titles; whether their values are numbers.
COLUMNS = {
    "title": ("Job", False),
    "state": ("State", False),
    "step": ("Step", True),
    "steps": ("Steps", True),
    "recipe": ("Recipe", False),
    "rate": ("Learning rate", True),
    "reward": ("Last reward", True),
    "source": ("Learns from", False),
    "base": ("Starts from", False),
    "created": ("Created", False),
    "owner": ("By", False),
}
#: Columns that the database orders.
_STORED = {
    "title": "title",
    "state": "state",
    "step": "step",
    "steps": "steps",
    "recipe": "recipe",
    "base": "base_title",
    "created": "created_at",
    "owner": "owner__username",
}


@dataclass(frozen=True)
class Column:
    """A column's header. `order`: the value of `sort` that a click asks for; `aria`: the current order, if any."""

    name: str
    title: str
    is_number: bool
    order: str
    aria: str


def columns(sort: str) -> list[Column]:
    """Headers of the list in the order `sort`. A second click on a column reverses it; numbers begin with the highest."""
    found = []
    for name, (title, is_number) in COLUMNS.items():
        if name == "source":
            found.append(Column(name, title, is_number, "", ""))
            continue
        first = f"-{name}" if is_number or name == "created" else name
        aria = {name: "ascending", f"-{name}": "descending"}.get(sort, "")
        order = (name if sort.startswith("-") else f"-{name}") if aria else first
        found.append(Column(name, title, is_number, order, aria))
    return found


def sort_of(asked: str) -> str:
    """A valid order; newest first for any other."""
    return asked if asked.removeprefix("-") in COLUMNS and asked.removeprefix("-") != "source" else NEWEST_FIRST


def jobs_in_order(sort: str) -> QuerySet[TrainingJob] | list[TrainingJob]:
    """All jobs in a valid order, jobs without the value last."""
    name, descends = sort.removeprefix("-"), sort.startswith("-")
    jobs = TrainingJob.objects.select_related("owner", "dataset")
    if name in _STORED:
        column = F(_STORED[name])
        return jobs.order_by(column.desc(nulls_last=True) if descends else column.asc(nulls_last=True), "-pk")
    value: Callable[[TrainingJob], float | None] = rate_of if name == "rate" else last_reward
    known = [(value(job), job) for job in jobs]
    ordered = sorted(known, key=lambda one: (one[0] is None, (-one[0] if descends else one[0]) if one[0] is not None else 0))
    return [job for _, job in ordered]


def rate_of(job: TrainingJob) -> float:
    """Learning rate in force."""
    return float(job.config.get("learning_rate", TRAININGS[job.recipe].rate.first))


def last_reward(job: TrainingJob) -> float | None:
    """Reward of the last line of metrics that has one, among the last 16 kB; None without one."""
    for line in reversed(_tail(job.folder / "metrics.jsonl")):
        try:
            found: Any = json.loads(line)["reward"]
        except (ValueError, KeyError, TypeError):
            continue
        return float(found) if isinstance(found, int | float) else None
    return None


def _tail(path: Path) -> list[bytes]:
    """Last complete lines of a file; the first may be a part."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
            return file.read().split(b"\n")[:-1]
    except OSError:
        return []
