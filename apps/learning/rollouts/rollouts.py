"""Runs that a training job makes for itself: started while it trains, and fed to its trainer per run or per agent.

The job's driver calls `Rollouts.poll` while the trainer is running. No state is kept in memory only. Started runs are in the
database, fed runs in the job's `feed.jsonl`, and the trainer's rows in its shards. After a driver dies, the next one
continues without guessing: run numbers are deterministic, and no run is fed twice.
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

from apps.datasets.recorded.feeding import Feed, FeedPlan
from apps.datasets.tokens.shards import tokens_folder
from apps.datasets.versions.choosing import NothingToMake
from apps.explorations.starting.plans import Plan, plan_spec, problem_text
from apps.learning.jobs.folders import locked, replace_text, trainer_state
from apps.learning.jobs.unread import rows_unread
from apps.learning.models import Rollout, TrainingJob, under_way
from apps.learning.presets import rows_per_step
from apps.learning.rollouts.plan import plan_of
from apps.problems.models import Problem
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias, load_aliases
from apps.reasoning.inference.followed import followed_by
from apps.reasoning.scaffolds.spec import BATCH
from apps.recipes.registry import TRAININGS
from apps.runs.models import LIVE, ROLLOUT, RunStatus
from apps.runs.services import command_request, run_create

logger = logging.getLogger(__name__)
EVERY_S = 1.0
PRODUCER_LOCK, PRODUCER_PID = "producer.lock", "producer.pid"
#: File of the runs that were left out, for the page.
LEFT = "left.json"
#: DAPO generates at most this many batches for one step; a visit of all problems is a batch here.
QUIET_VISITS = 10
#: Number of consecutive failed runs that ends a job.
FAILURES_AT_MOST = 5
#: Default limit of how many steps rows may wait: that of QED-Nano.
STEPS_AHEAD = 5
_LARGEST_SEED = 2**31
#: Producers started by this process, to be reaped when they have ended.
_started: "list[subprocess.Popen[bytes]]" = []


class Rollouts:
    """The runs of one job. `trouble` is the reason why the job cannot continue; its driver then stops it as failed."""

    def __init__(self, job: TrainingJob) -> None:
        self.job, self.plan, self.trouble = job, plan_of(job.rollouts), ""
        self._feed: Feed | None = None
        self._has_ended = False
        self._is_followed = self._has_all_weights = False
        self._left = "[]"
        self._polled_at = -EVERY_S

    def poll(self) -> None:
        """Start runs while there is room, feed finished ones, keep the producer running. At most once per second."""
        if self.trouble or time.monotonic() - self._polled_at < EVERY_S:
            return
        self._polled_at = time.monotonic()
        try:
            self._poll()
        except ValidationError as error:
            self.trouble = " ".join(error.messages)
        except (NothingToMake, AliasError, OSError) as error:
            self.trouble = str(error)

    def end(self) -> None:
        """Stop the producer and cancel live runs after the trainer has ended."""
        _stop_producer(self.job.folder)
        for row in Rollout.objects.filter(job=self.job, run__status__in=LIVE).select_related("run"):
            if self.job.owner is not None:
                with suppress(ValidationError, RedisError, OSError):  # The run has just ended, or the broker is down.
                    stop_id = uuid.uuid5(row.run.public_id, "the training job has ended")
                    command_request(run=row.run, user=self.job.owner, command_id=stop_id, name="cancel")

    def _poll(self) -> None:
        if self._feed is None and not self._has_ended:
            self._set_up()
        if self._feed is not None:
            self._feed.poll()
            if (left := json.dumps(self._feed.left.rows, ensure_ascii=False)) != self._left:
                replace_text(self.job.folder / LEFT, left)
                self._left = left
            if self._played() >= self.plan.runs:
                self._feed.end()
                self._feed, self._has_ended = None, True
        self._keep_producer()
        if not self._has_ended and not self.trouble and not self._waits_for_its_weights() and not self._is_ahead():
            self._start_runs()

    def _set_up(self) -> None:
        """Let the engine follow this job, and continue the last driver's feed."""
        alias = load_aliases(settings.MODELS_FILE).get(self.plan.alias)
        if alias is None:
            raise ValidationError(f"The model {self.plan.alias} is no longer in models.toml.")
        self._is_followed, self._has_all_weights = followed_by(alias) is not None, bool(alias.weights)
        _follow(alias, self.job)
        recipe = TRAININGS[self.job.recipe]
        mine, size = Q(rollout__job=self.job), self.plan.runs_a_group
        wanted = FeedPlan(recipe, self.plan.judge, self.plan.problems, runs_a_group=size, only=mine, is_early=True)
        try:
            self._feed = Feed(self.job.folder / "feed.jsonl", wanted)
        except NothingToMake:  # The feed has ended: all runs were finished before the trainer was resumed.
            self._has_ended = True

    def _played(self) -> int:
        """Count finished runs, and runs that ended early but gave rows; neither is played again."""
        rows = Rollout.objects.filter(job=self.job).exclude(run__status__in=LIVE)
        return sum(self._counts(status, run) for status, run in rows.values_list("run__status", "run__public_id"))

    def _counts(self, status: str, run: uuid.UUID) -> bool:
        return status == RunStatus.FINISHED or (self._feed is not None and self._feed.holds(str(run)))

    # --- runs --------------------------------------------------------------------------------------------------------

    def _waits_for_its_weights(self) -> bool:
        """Whether the engine still lacks what this job starts from: all its weights, or its adapter if it continues one.

        The trainer hands them over before its first step.
        """
        base = self.job.config.get("base")
        has_adapter = isinstance(base, str) and (Path(base) / "adapter_config.json").exists()
        needs = self._is_followed and (self._has_all_weights or has_adapter)
        return needs and not any((self.job.folder / "policy").glob("[0-9]*"))

    def _is_ahead(self) -> bool:
        """Whether an engine that follows has rows for all allowed steps; further rows would be too old when used."""
        if not self._is_followed:
            return False
        lag = self.job.config.get("most_lag")
        steps = 1 + (STEPS_AHEAD if lag is None else int(lag))
        wanted = steps * rows_per_step({"recipe": self.job.recipe, **self.job.config})
        return rows_unread(self.job.folder, trainer_state(self.job.folder)) >= wanted

    def _start_runs(self) -> None:
        asked = Rollout.objects.filter(job=self.job).order_by("number")
        rows = list(asked.values_list("problem", "run__status", "run__public_id"))
        self._check_failures()
        live = sum(status in LIVE for _, status, _ in rows)
        counted = Counter(dict.fromkeys(self.plan.problems, 0))
        counted.update(slug for slug, status, run in rows if status in LIVE or self._counts(status, run))
        for number in range(len(rows), len(rows) + max(0, self.plan.at_once - live)):
            # Visit by visit, so that all problems are played with about the same policy.
            slug = min(self.plan.problems, key=lambda one: counted[one] // self.plan.runs_a_group)
            if counted[slug] >= self.plan.runs_each or self.trouble:
                return
            self._start_run(number, slug)
            counted[slug] += 1

    def _check_failures(self) -> None:
        """Stop after consecutive failures, counted within this attempt because a resume implies a fix."""
        ended = Rollout.objects.filter(job=self.job, run__created_at__gte=self.job.started_at).exclude(run__status__in=LIVE)
        newest = list(ended.order_by("-number").values_list("run__status", "run__status_reason")[:FAILURES_AT_MOST])
        if len(newest) == FAILURES_AT_MOST and all(status == RunStatus.FAILED for status, _ in newest):
            self.trouble = f"{FAILURES_AT_MOST} consecutive runs failed. Reason of the last failure: {newest[0][1]}"

    def _start_run(self, number: int, slug: str) -> None:
        problem = Problem.objects.filter(slug=slug).first()
        if problem is None:
            raise ValidationError(f"The problem {slug} no longer exists.")
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
        """Start the program that makes rows of the feed, unless it is running; it outlives this process."""
        folder = self.job.folder
        state = producer_state(folder)
        if int(str(state.get("quiet", 0))) >= QUIET_VISITS * len(self.plan.problems):
            self.trouble = (
                f"The last {QUIET_VISITS} visits of all problems gave no rows: all answers in each group earned the same. The "
                f"problems are too easy or too hard for this model. Choose others, or compare more runs per group."
            )
        if state.get("state") == "failed":
            self.trouble = str(state.get("message") or "No rows could be made of the runs.")
        if state.get("state") in ("failed", "ended"):
            return
        with locked(folder / PRODUCER_LOCK) as lock:
            if lock is None:
                return
            command = [sys.executable, "-m", "apps.recipes.rows.following", "--group", "0", "--job", str(folder)]
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
            replace_text(folder / PRODUCER_PID, str(process.pid))


def producer_state(folder: Path) -> dict[str, object]:
    """Content of the producer's `stream.json`; empty where there is none yet."""
    try:
        found = json.loads((folder / "stream.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def left_out(folder: Path) -> list[dict[str, Any]]:
    """Runs left out since the driver started, by reason: `count`, `reason`, `examples`."""
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
    """Link the folder that the engine follows to this job's policies. Raises `ValidationError`."""
    place = followed_by(alias)
    if place is None:
        return
    others = TrainingJob.objects.filter(under_way(), rollouts__alias=alias.name).exclude(pk=job.pk)
    if other := others.first():
        raise ValidationError(f"{alias.title} is following another job: {other.title}. Resume when that job has ended.")
    if place.exists() and not place.is_symlink():
        raise ValidationError(
            f"{place} is not a link. In models.toml, set `{'weights' if alias.weights else 'adapter'}` of {alias.name} to an "
            "unused path that ends in /*."
        )
    policy = job.folder / "policy"
    policy.mkdir(parents=True, exist_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_name(f".{place.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(policy.resolve())
    temporary.replace(place)
