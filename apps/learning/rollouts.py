"""The runs that a training job makes for itself: begun while it trains, and fed to its trainer as they finish, or by agent.

The driver of the job looks (`Rollouts.look`) as long as the trainer lives. Nothing is held here that matters: what was begun
stands in rows, what was fed in the job's `feed.jsonl`, what the trainer got in its shards. A driver that dies in between
leaves the next one nothing to guess: a run has the number it would get again, a run that was fed is not fed twice.
"""

import json
import logging
import os
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from redis.exceptions import RedisError

from apps.datasets.choosing import NothingToMake
from apps.datasets.feeding import Feed, Wanted
from apps.datasets.recipes import RECIPES
from apps.datasets.shards import tokens_folder
from apps.explorations.plans import Plan, plan_spec, problem_text
from apps.learning.folders import locked, replaced, said
from apps.learning.models import Rollout, TrainingJob, under_way
from apps.learning.recipes import rows_per_step
from apps.learning.rollout_plan import plan_of
from apps.learning.unread import rows_unread
from apps.problems.models import Problem
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias, load_aliases
from apps.reasoning.inference.followed import followed_folder
from apps.reasoning.scaffolds.spec import BATCH
from apps.runs.models import LIVE, ROLLOUT, RunStatus
from apps.runs.services import command_request, run_create

logger = logging.getLogger(__name__)
EVERY_S = 1.0
PRODUCER_LOCK, PRODUCER_PID = "producer.lock", "producer.pid"
#: What was left out, for the page.
LEFT = "left.json"
#: DAPO generates so many batches for one step before it gives up; a visit of all problems is a batch here.
QUIET_VISITS = 10
#: So many runs that failed one after another, and the job ends: the next one would fail as well.
FAILURES_AT_MOST = 5
#: Steps that rows may wait for their turn where nothing says how far behind they may be: QED-Nano's limit.
STEPS_AHEAD = 5
_LARGEST_SEED = 2**31
#: Producers that this process started, to be waited for when they have ended.
_started: "list[subprocess.Popen[bytes]]" = []


class Rollouts:
    """One job's runs. `trouble` says why it cannot go on; the job is then to be stopped and has failed."""

    def __init__(self, job: TrainingJob) -> None:
        self.job, self.plan, self.trouble = job, plan_of(job.rollouts), ""
        self._feed: Feed | None = None
        self._has_ended = False
        self._is_followed = False
        self._left = "[]"
        self._looked_at = -EVERY_S

    def look(self) -> None:
        """Begin runs while there is room, feed those that finished, keep the producer alive. At most once a second."""
        if self.trouble or time.monotonic() - self._looked_at < EVERY_S:
            return
        self._looked_at = time.monotonic()
        try:
            self._look()
        except ValidationError as error:
            self.trouble = " ".join(error.messages)
        except (NothingToMake, AliasError, OSError) as error:
            self.trouble = str(error)

    def end(self) -> None:
        """The trainer has ended: the producer and what still runs are of no use to it."""
        _stop_producer(self.job.folder)
        for row in Rollout.objects.filter(job=self.job, run__status__in=LIVE).select_related("run"):
            if self.job.owner is not None:
                with suppress(ValidationError, RedisError, OSError):  # It has ended meanwhile, or the broker is away.
                    stop_id = uuid.uuid5(row.run.public_id, "the training job has ended")
                    command_request(run=row.run, user=self.job.owner, command_id=stop_id, name="cancel")

    def _look(self) -> None:
        if self._feed is None and not self._has_ended:
            self._set_up()
        if self._feed is not None:
            self._feed.look()
            if (left := json.dumps(self._feed.left.rows, ensure_ascii=False)) != self._left:
                replaced(self.job.folder / LEFT, left)
                self._left = left
            if self._played() >= self.plan.runs:
                self._feed.end()
                self._feed, self._has_ended = None, True
        self._keep_producer()
        if not self._has_ended and not self.trouble and not self._waits_for_its_adapter() and not self._is_ahead():
            self._begin_some()

    def _set_up(self) -> None:
        """Let the engine follow this job, and open the feed where the last driver left it."""
        alias = load_aliases(settings.MODELS_FILE).get(self.plan.alias)
        if alias is None:
            raise ValidationError(f"There is no model {self.plan.alias} in models.toml any more.")
        self._is_followed = followed_folder(alias.adapter) is not None
        _follow(alias, self.job)
        recipe = RECIPES[self.job.recipe]
        mine, size = Q(rollout__job=self.job), self.plan.runs_a_group
        wanted = Wanted(recipe, self.plan.judge, self.plan.problems, runs_a_group=size, only=mine, is_early=True)
        try:
            self._feed = Feed(self.job.folder / "feed.jsonl", wanted)
        except NothingToMake:  # The feed has ended: everything was played before the trainer was resumed.
            self._has_ended = True

    def _played(self) -> int:
        """Runs that need not be played again: those that finished, and those that broke off but were learned from."""
        rows = Rollout.objects.filter(job=self.job).exclude(run__status__in=LIVE)
        return sum(self._counts(status, run) for status, run in rows.values_list("run__status", "run__public_id"))

    def _counts(self, status: str, run: uuid.UUID) -> bool:
        return status == RunStatus.FINISHED or (self._feed is not None and self._feed.holds(str(run)))

    # --- runs --------------------------------------------------------------------------------------------------------

    def _waits_for_its_adapter(self) -> bool:
        """A job that goes on from an adapter hands it over before its first step; until then the engine has the bare model."""
        base = self.job.config.get("base")
        begins_taught = isinstance(base, str) and (Path(base) / "adapter_config.json").exists()
        return self._is_followed and begins_taught and not any((self.job.folder / "policy").glob("[0-9]*"))

    def _is_ahead(self) -> bool:
        """Where the engine follows: rows enough for the steps that they may be behind. More would be too old in their turn."""
        if not self._is_followed:
            return False
        lag = self.job.config.get("most_lag")
        steps = 1 + (STEPS_AHEAD if lag is None else int(lag))
        wanted = steps * rows_per_step({"recipe": self.job.recipe, **self.job.config})
        return rows_unread(self.job.folder, said(self.job.folder)) >= wanted

    def _begin_some(self) -> None:
        asked = Rollout.objects.filter(job=self.job).order_by("number")
        rows = list(asked.values_list("problem", "run__status", "run__public_id"))
        self._check_failures()
        live = sum(status in LIVE for _, status, _ in rows)
        counted = Counter(dict.fromkeys(self.plan.problems, 0))
        counted.update(slug for slug, status, run in rows if status in LIVE or self._counts(status, run))
        for number in range(len(rows), len(rows) + max(0, self.plan.at_once - live)):
            # Visit by visit: no problem is far ahead of the others, so that all are played with about the same policy.
            slug = min(self.plan.problems, key=lambda one: counted[one] // self.plan.runs_a_group)
            if counted[slug] >= self.plan.runs_each or self.trouble:
                return
            self._begin(number, slug)
            counted[slug] += 1

    def _check_failures(self) -> None:
        """Runs of this attempt only: whoever resumes a job has mended something."""
        ended = Rollout.objects.filter(job=self.job, run__created_at__gte=self.job.started_at).exclude(run__status__in=LIVE)
        newest = list(ended.order_by("-number").values_list("run__status", "run__status_reason")[:FAILURES_AT_MOST])
        if len(newest) == FAILURES_AT_MOST and all(status == RunStatus.FAILED for status, _ in newest):
            self.trouble = f"{FAILURES_AT_MOST} runs failed one after another. The last one: {newest[0][1]}"

    def _begin(self, number: int, slug: str) -> None:
        problem = Problem.objects.filter(slug=slug).first()
        if problem is None:
            raise ValidationError(f"There is no problem {slug} any more.")
        version = problem.current
        plan = Plan(
            self.plan.scaffold,
            self.plan.preset,
            self.plan.overrides,
            role_aliases={"": self.plan.alias},
            seed=(int(self.job.config.get("seed", 0)) * 1_000_003 + number) % _LARGEST_SEED,
            max_new_tokens=self.plan.max_new_tokens,
            temperature=self.plan.temperature,
            segment_tokens=self.plan.segment_tokens,
            capture=True,
        )
        spec = plan_spec(plan, problem_text(version), load_aliases(settings.MODELS_FILE))
        with transaction.atomic():
            run = run_create(
                owner=self.job.owner,
                problem_version=version,
                title=f"{self.job.title}: {problem.title}"[:200],
                spec=spec.model_copy(update={"preset": ROLLOUT, "priority": BATCH}),
                start_id=uuid.uuid5(self.job.public_id, f"rollout/{number}"),
            )
            Rollout.objects.create(job=self.job, number=number, problem=slug, run=run)

    # --- the producer ------------------------------------------------------------------------------------------------

    def _keep_producer(self) -> None:
        """Start the program that makes rows of the feed, unless one lives; it outlives this process."""
        folder = self.job.folder
        told = producer_said(folder)
        if int(str(told.get("quiet", 0))) >= QUIET_VISITS * len(self.plan.problems):
            self.trouble = (
                f"The last {QUIET_VISITS} visits of all problems taught nothing: the answers compared earned the same. The "
                f"problems are too easy or too hard for this model; take others, or compare more runs."
            )
        if told.get("state") == "failed":
            self.trouble = str(told.get("message") or "Nothing could be made of the runs.")
        if told.get("state") in ("failed", "ended"):
            return
        with locked(folder / PRODUCER_LOCK) as lock:
            if lock is None:
                return
            command = [sys.executable, "-m", "workers.datasets.following", "--group", "0", "--job", str(folder)]
            command += ["--feed", str(folder / "feed.jsonl"), "--tokens", str(tokens_folder().resolve())]
            with (folder / "producer.txt").open("ab") as log:
                process = subprocess.Popen(  # noqa: S603  (our own program)
                    command,
                    cwd=settings.BASE_DIR,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    pass_fds=(lock,),
                )
            _started[:] = [*(one for one in _started if one.poll() is None), process]
            replaced(folder / PRODUCER_PID, str(process.pid))


def producer_said(folder: Path) -> dict[str, object]:
    """The producer's `stream.json`; empty where there is none yet."""
    try:
        found = json.loads((folder / "stream.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def left_out(folder: Path) -> list[dict[str, Any]]:
    """Runs of which nothing could be learned since the driver began, by reason: `count`, `reason`, `examples`."""
    try:
        found = json.loads((folder / LEFT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def _stop_producer(folder: Path) -> None:
    with locked(folder / PRODUCER_LOCK) as free:
        if free is not None:
            return
    with suppress(OSError, ValueError):
        os.killpg(int((folder / PRODUCER_PID).read_text(encoding="utf-8")), signal.SIGTERM)


def _follow(alias: Alias, job: TrainingJob) -> None:
    """Point the place that the engine looks at to this job's versions. Raises `ValidationError`."""
    place = followed_folder(alias.adapter)
    if place is None:
        return
    others = TrainingJob.objects.filter(under_way(), rollouts__alias=alias.name).exclude(pk=job.pk)
    if other := others.first():
        raise ValidationError(f"{alias.title} follows another job just now: {other.title}. Resume when that one has ended.")
    if place.exists() and not place.is_symlink():
        raise ValidationError(f"{place} is no link: let `adapter` of {alias.name} name a place of its own, ending in /*.")
    policy = job.folder / "policy"
    policy.mkdir(parents=True, exist_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)
    beside.symlink_to(policy.resolve())
    beside.replace(place)
