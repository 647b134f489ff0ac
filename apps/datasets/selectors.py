"""Reads of datasets."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.datasets.access import may_make_datasets
from apps.datasets.models import DatasetBuild, DatasetVersion, TokenShard
from apps.datasets.services import progress_path
from apps.runs.models import Run

#: A build without a heartbeat for this time is lost.
LOST_AFTER_S = 60.0
MOST_FAILED = 5


def datasets_visible_to(user: User) -> QuerySet[DatasetVersion]:
    """Versions that `user` may read, newest first; none for users who are not researchers."""
    return DatasetVersion.objects.all() if may_make_datasets(user) else DatasetVersion.objects.none()


def recorded_runs(runs: Sequence[Run]) -> set[int]:
    """Primary keys of the runs with recorded tokens."""
    keys = [run.pk for run in runs]
    return set(TokenShard.objects.filter(run__in=keys).values_list("run", flat=True).distinct().order_by())


@dataclass(frozen=True)
class BuildShown:
    """A build with its progress: activity `what`, `done` of `of`."""

    build: DatasetBuild
    what: str = ""
    done: int = 0
    of: int = 0

    @property
    def is_making(self) -> bool:
        return self.build.state == DatasetBuild.State.MAKING


def builds_to_show() -> list[BuildShown]:
    """Builds being made, and the last failed ones. A build whose process has ended is marked as failed."""
    live = DatasetBuild.objects.filter(state=DatasetBuild.State.MAKING)
    failed = DatasetBuild.objects.filter(state=DatasetBuild.State.FAILED).order_by("-created")[:MOST_FAILED]
    found = DatasetBuild.objects.filter(Q(pk__in=live) | Q(pk__in=[one.pk for one in failed])).select_related("started_by")
    return [_shown(build) for build in found.order_by("-created", "-pk")]


def _shown(build: DatasetBuild) -> BuildShown:
    if build.state != DatasetBuild.State.MAKING:
        return BuildShown(build)
    path = progress_path(build)
    try:
        updated, state = path.stat().st_mtime, json.loads(path.read_text())
    except (OSError, ValueError):
        updated, state = build.created.timestamp(), {"what": "starting", "done": 0, "of": 0}
    if time.time() - updated > LOST_AFTER_S:
        build.state, build.ended = DatasetBuild.State.FAILED, timezone.now()
        build.message = "The build ended without a message. Nothing was kept. Make the dataset again."
        DatasetBuild.objects.filter(pk=build.pk, state=DatasetBuild.State.MAKING).update(
            state=build.state, ended=build.ended, message=build.message
        )
        return BuildShown(build)
    return BuildShown(build, state["what"], state["done"], state["of"])


#: Key of the tallies in a manifest's counts (`apps/recipes/tallies.py`).
TALLY_KEY = "told"
_TALLY_TITLES = {
    "found": "wrong solutions flagged (TPR)",
    "spared": "right solutions passed (TNR)",
    "masked_rounds": "rounds without a new lemma",
    "mean_value": "mean value of lemmas",
    "tool_calls": "turns that called a tool",
    "tool_errors": "failed tool calls",
    "unread": "turns with an unreadable action",
    "reward/episode": "reward of a turn: episode",
    "reward/unread": "reward of a turn: unreadable actions",
    "reward/length": "reward of a turn: length",
}


def tally_means(counts: Mapping[str, Any]) -> list[tuple[str, float, int]]:
    """Title, mean and count of every tally over all trajectories of a version."""
    found = []
    for name, (total, count) in counts.get(TALLY_KEY, {}).items():
        *role, what = name.removeprefix("role/").split("/") if name.startswith("role/") else (name,)
        found.append((": ".join([*role, _TALLY_TITLES[what]]), total / count, int(count)))
    return sorted(found)
