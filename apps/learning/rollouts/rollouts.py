"""Runs that a training job makes for itself: started while it trains, and fed to its trainer per run or per agent.

The job's driver calls `Rollouts.poll` while the trainer is running. No state is kept in memory only. Started runs are in the
database, fed runs in the job's `feed.jsonl`, and the trainer's rows in its shards. After a driver dies, the next one
continues without guessing: run numbers are deterministic, and no run is fed twice.
"""

import json
import logging
import os
import time
import uuid
from collections import Counter
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import Q
from redis.exceptions import RedisError

from apps.datasets.recorded.feeding import Feed, FeedPlan
from apps.datasets.versions.choosing import NothingToMake
from apps.graders.planning.plans import PlanWrong
from apps.learning.jobs.folders import replace_text, trainer_state
from apps.learning.jobs.unread import rows_unread
from apps.learning.models import Rollout, TrainingJob, under_way
from apps.learning.presets import rows_per_step
from apps.learning.rollouts.plan import plan_of
from apps.learning.rollouts.producer import LEFT, producer_keep, producer_state, producer_stop
from apps.learning.rollouts.rewards import RewardQueue
from apps.learning.rollouts.starting import Starter, room_for
from apps.processes.capacity import FAILURES_AT_MOST, last_failure
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias, load_aliases
from apps.reasoning.inference.followed import followed_by
from apps.recipes.registry import TRAININGS
from apps.runs.models import LIVE, RunStatus
from apps.runs.services import command_request

logger = logging.getLogger(__name__)
EVERY_S = 1.0
#: DAPO generates at most this many batches for one step; a visit of all problems is a batch here.
QUIET_VISITS = 10
#: Default limit of how many steps rows may wait: that of QED-Nano.
STEPS_AHEAD = 5


class Rollouts:
    """The runs of one job. `trouble` is the reason why the job cannot continue; its driver then stops it as failed."""

    def __init__(self, job: TrainingJob) -> None:
        self.job, self.plan, self.trouble = job, plan_of(job.rollouts), ""
        self._starter = Starter(job, self.plan)
        self._rewards: RewardQueue | None = None
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
        except (NothingToMake, AliasError, PlanWrong, OSError) as error:
            self.trouble = str(error)

    def end(self) -> None:
        """Stop the producer and cancel live runs after the trainer has ended."""
        producer_stop(self.job.folder)
        if self._rewards is not None:
            self._rewards.end()
        for row in Rollout.objects.filter(job=self.job, run__status__in=LIVE).select_related("run"):
            if self.job.owner is not None:
                with suppress(ValidationError, RedisError, OSError):  # The run has just ended, or the broker is down.
                    stop_id = uuid.uuid5(row.run.public_id, "the training job has ended")
                    command_request(run=row.run, user=self.job.owner, command_id=stop_id, name="cancel")

    def _poll(self) -> None:
        if self._feed is None and not self._has_ended:
            self._set_up()
        if self._feed is not None:
            if self._rewards is not None:
                self._rewards.poll()
                if reason := self._rewards.failing():
                    self.trouble = reason
                    return
            self._feed.poll()
            if (left := json.dumps(self._feed.left.rows, ensure_ascii=False)) != self._left:
                replace_text(self.job.folder / LEFT, left)
                self._left = left
            if self._played() >= self._starter.wanted(self._gave_rows()) and not self._feed.waits_for_rewards:
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
        if self.plan.judge == "grader":
            self._rewards = RewardQueue(self.job, self.plan)
        recipe = TRAININGS[self.job.recipe]
        mine, size = Q(rollout__job=self.job), self.plan.runs_a_group
        wanted = FeedPlan(
            recipe,
            self.plan.judge,
            self.plan.problems,
            runs_a_group=size,
            only=mine,
            is_early=True,
            rewards=self._rewards,
            counts_all=True,
        )
        try:
            self._feed = Feed(self.job.folder / "feed.jsonl", wanted)
        except NothingToMake:  # The feed has ended: all runs were finished before the trainer was resumed.
            self._has_ended = True

    def _played(self) -> int:
        """Count finished runs, and runs that ended early but gave rows; neither is played again."""
        finished = Rollout.objects.filter(job=self.job, run__status=RunStatus.FINISHED).count()
        return finished + self._gave_rows().total()

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
        self._check_failures()
        if not self.trouble and (room := room_for(self.job, self.plan)):
            self._starter.start(room, self._gave_rows())

    def _gave_rows(self) -> Counter[str]:
        """By problem, runs that ended early but gave rows; they are not played again."""
        rows = Rollout.objects.filter(job=self.job).exclude(run__status__in=(*LIVE, RunStatus.FINISHED))
        found = rows.values_list("problem", "run__public_id")
        return Counter(slug for slug, run in found if self._feed is not None and self._feed.holds(str(run)))

    def _check_failures(self) -> None:
        """Stop after consecutive failures, counted within this attempt because a resume implies a fix."""
        ended = Rollout.objects.filter(job=self.job, run__created_at__gte=self.job.started_at).exclude(run__status__in=LIVE)
        newest = ended.order_by("-number").values_list("run__status", "run__status_reason")[:FAILURES_AT_MOST]
        if (reason := last_failure(newest)) is not None:
            self.trouble = f"{FAILURES_AT_MOST} consecutive runs failed. Reason of the last failure: {reason}"

    def _keep_producer(self) -> None:
        """Keep the program running that makes rows of the feed, and read from its state whether the job can continue."""
        state = producer_state(self.job.folder)
        if int(str(state.get("quiet", 0))) >= QUIET_VISITS * len(self.plan.problems):
            self.trouble = (
                f"The last {QUIET_VISITS} visits of all problems gave no rows: all answers in each group earned the same. The "
                f"problems are too easy or too hard for this model. Choose others, or compare more runs per group."
            )
        if state.get("state") == "failed":
            self.trouble = str(state.get("message") or "No rows could be made of the runs.")
        if state.get("state") not in ("failed", "ended"):
            producer_keep(self.job.folder)


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
