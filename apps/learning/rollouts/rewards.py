"""Reward workers of a job's own runs: each solution is graded in a run of its own, and the job continues without late rewards.

Gradings are ordinary runs with batch priority, within a capacity that they share with experiments (`reward_room`). A text that
was graded with the same settings before is not graded again (`Reward.address`). All state is in the database.
"""

import uuid
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone
from redis.exceptions import RedisError

from apps.datasets.recorded.recorded import Recorded, recorded_of
from apps.datasets.recorded.unread import is_cut_off
from apps.datasets.rewards import Given
from apps.experiments.cells import prepares_pieces
from apps.experiments.solving.grading import NO_RESULT, solutions_require_open
from apps.experiments.solving.planning import address_of
from apps.graders.batches.jobs import Job, material_of, text_of
from apps.graders.pieces import pieces_known
from apps.graders.planning.naming import plan_named, players_written, variant_of
from apps.graders.planning.plans import GradingPlan, PlanWrong
from apps.learning.models import Reward, RewardAsked, RewardState, TrainingJob
from apps.learning.rollouts.plan import REWARD_BEGINS_S, RolloutPlan
from apps.learning.rollouts.reward_room import awaited, room_for_rewards
from apps.problems.models import ProblemVersion
from apps.processes.capacity import FAILURES_AT_MOST, last_failure
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.graders.grader import FINAL
from apps.reasoning.graders.grading import Grading
from apps.reasoning.inference.aliases import load_measurable
from apps.reasoning.scaffolds.spec import RunSpec
from apps.runs.models import LIVE, REWARD, Run, RunEvent
from apps.runs.services import command_request, run_create

#: Gradings started between two looks at the trainer.
AT_MOST = 64
LATE = "a reward that did not come in time"
WITHOUT = "a grading without points"
FAILED = "a failed grading"
_OPEN = (RewardState.WAITING, RewardState.RUNNING)
_ENDED = (RewardState.SCORED, RewardState.UNSCORED, RewardState.FAILED)


def reward_plan(plan: RolloutPlan) -> GradingPlan:
    """The grading plan of a job's rewards. Raises `PlanWrong`, `AliasError`."""
    variant = variant_of(plan.reward_workflow)
    return plan_named(variant, players_written({"": plan.reward_alias}, variant.grader), load_measurable(settings.MODELS_FILE))


def spec_of(plan: GradingPlan, version: ProblemVersion, text: str, *, with_pieces: bool = False) -> RunSpec:
    """The grading of a text as a solution of a problem. Raises `PlanWrong` with what the problem lacks."""
    job = Job(version.problem.title, text_of(version), {**material_of(version), "script": text})
    return plan.spec(job, pieces_known(version.statement, plan.roles) if with_pieces else {})


class RewardQueue:
    """The rewards of one job: asked for, started within the capacity, and settled. The `RewardSource` of its feed."""

    def __init__(self, job: TrainingJob, plan: RolloutPlan) -> None:
        self.job, self._plan = job, plan
        self._grading = reward_plan(plan)
        self._asked = RewardAsked.objects.filter(job=job)

    def given(self, run: Run) -> Mapping[str, Given] | None:
        """See `RewardSource.given`."""
        rows = list(self._asked.filter(judged=run).select_related("reward"))
        if not rows:
            recorded = recorded_of(run)
            troubles = self._ask(recorded)
            rows = list(self._asked.filter(judged=run).select_related("reward"))
            if not rows:
                return troubles
        return _given(rows) if all(row.is_settled for row in rows) else None

    def awaited(self, runs: Collection[int]) -> set[int]:
        """See `RewardSource.awaited`."""
        rows = self._asked.filter(is_settled=False, judged__in=list(runs))
        return set(rows.values_list("judged", flat=True))

    def poll(self) -> None:
        """Collect what gradings gave, continue without late ones, and start others while there is room."""
        _collect(Reward.objects.filter(state=RewardState.RUNNING, asked__in=self._asked).exclude(run__status__in=LIVE))
        open_ = self._asked.filter(is_settled=False)
        open_.filter(reward__state__in=_ENDED).update(is_settled=True)
        if open_.filter(self._late()).update(is_settled=True, is_late=True):
            self._cancel(awaited())
        self._start()

    def failing(self) -> str:
        """Reason to stop the job: consecutive failed gradings within this attempt. A text that cannot be graded has no run."""
        mine = Exists(self._asked.filter(reward=OuterRef("pk")))
        ended = Reward.objects.filter(mine, run__isnull=False, ended_at__gte=self.job.started_at).order_by("-ended_at", "-pk")
        reason = last_failure(ended.values_list("state", "trouble")[:FAILURES_AT_MOST])
        if reason is None:
            return ""
        return f"{FAILURES_AT_MOST} consecutive gradings of rewards failed. Reason of the last failure: {reason}"

    def end(self) -> None:
        """Cancel gradings that no other job awaits."""
        self._cancel(awaited().exclude(job=self.job))

    def _late(self) -> Q:
        """Filter for rewards whose grading has not begun in time, or that took longer than this job waits for them."""
        now, within = timezone.now(), timedelta(seconds=self._plan.reward_within_s)
        asked_before = Q(until__lt=now - within + timedelta(seconds=REWARD_BEGINS_S))
        began_before = Q(reward__run__started_at__lt=now - within)
        return Q(until__lt=now, reward__run__started_at=None) | asked_before & began_before

    def _cancel(self, awaited_by: QuerySet[RewardAsked]) -> None:
        """Cancel gradings that this job asked for and no job awaits. The next job that asks for one has it made again."""
        asked = Exists(self._asked.filter(reward=OuterRef("pk")))
        running = Reward.objects.filter(asked, state=RewardState.RUNNING, run__status__in=LIVE)
        for reward in running.exclude(Exists(awaited_by.filter(reward=OuterRef("pk")))).select_related("run__owner"):
            if reward.run is None or reward.run.owner is None:
                continue
            again = {"state": RewardState.WAITING, "attempt": F("attempt") + 1, "run": None}
            with suppress(ValidationError, RedisError, OSError), transaction.atomic():  # It has just ended, or no broker.
                if Reward.objects.filter(pk=reward.pk, run=reward.run, state=RewardState.RUNNING).update(**again):
                    stop_id = uuid.uuid5(reward.run.public_id, "no training job awaits it")
                    command_request(run=reward.run, user=reward.run.owner, command_id=stop_id, name="cancel")

    # --- asking ------------------------------------------------------------------------------------------------------

    @transaction.atomic
    def _ask(self, recorded: Recorded) -> dict[str, Given]:
        """Ask for the rewards of a run's solutions; the reasons why nothing can be asked, by solution."""
        troubles: dict[str, Given] = {}
        version, until = recorded.run.problem_version, timezone.now() + timedelta(seconds=REWARD_BEGINS_S)
        for solution in recorded.solutions.values():
            if is_cut_off(recorded, solution.call) or not solution.text.strip():
                continue
            try:
                solutions_require_open(self.job.owner, version.problem)
                spec = spec_of(self._grading, version, solution.text)
            except PlanWrong as error:
                troubles[solution.id] = Given(None, FAILED, str(error))
                continue
            new = {"problem_version": version, "text": solution.text}
            reward, is_new = Reward.objects.get_or_create(address=address_of(spec), defaults=new)
            if reward.state == RewardState.RUNNING:  # Its run may have ended while no job looked.
                _collect(Reward.objects.filter(pk=reward.pk, state=RewardState.RUNNING).exclude(run__status__in=LIVE))
                reward.refresh_from_db()
            is_again = not is_new and reward.state == RewardState.FAILED
            if is_again:
                again = {"state": RewardState.WAITING, "trouble": "", "run": None, "ended_at": None}
                Reward.objects.filter(pk=reward.pk).update(attempt=reward.attempt + 1, **again)
            RewardAsked.objects.create(
                job=self.job,
                judged=recorded.run,
                solution=solution.id,
                reward=reward,
                until=until,
                is_known=not is_new and not is_again,
                is_settled=reward.state in _ENDED and not is_again,
            )
        return troubles

    # --- starting ----------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        mine = Reward.objects.filter(Exists(self._asked.filter(reward=OuterRef("pk"), is_settled=False)))
        waiting = mine.filter(state=RewardState.WAITING)
        if not waiting.exists():
            return
        own = mine.filter(state=RewardState.RUNNING, run__status__in=LIVE)
        room = min(room_for_rewards(own.count()), AT_MOST)
        for reward in self._ready(waiting.select_related("problem_version__problem").order_by("pk"), own, room):
            self._start_one(reward)

    def _ready(self, waiting: QuerySet[Reward], own: QuerySet[Reward], room: int) -> list[Reward]:
        """The next gradings. Where they prepare pieces of the problem, the others of the problem wait for the first one."""
        if not room or not prepares_pieces(self._plan.reward_workflow):
            return list(waiting[:room])
        preparing, found = set(own.values_list("problem_version", flat=True)), list[Reward]()
        for reward in waiting[: 4 * AT_MOST]:
            ended = Q(problem_version=reward.problem_version, state__in=(RewardState.SCORED, RewardState.UNSCORED))
            is_prepared = Reward.objects.filter(ended, asked__in=self._asked).exists()
            if is_prepared or reward.problem_version_id not in preparing:
                preparing.add(reward.problem_version_id)
                found.append(reward)
        return found[:room]

    def _start_one(self, reward: Reward) -> None:
        version = reward.problem_version
        try:
            spec = spec_of(self._grading, version, reward.text, with_pieces=True)
        except PlanWrong as error:
            _end(reward, RewardState.FAILED, str(error))
            return
        with transaction.atomic():
            taken = Reward.objects.filter(pk=reward.pk, state=RewardState.WAITING).update(state=RewardState.RUNNING)
            if not taken:  # Another job awaits the same reward and was faster.
                return
            run = run_create(
                owner=self.job.owner,
                problem_version=version,
                title=f"{self.job.title}: reward, {version.problem.title}"[:200],
                spec=spec.model_copy(update={"preset": REWARD}),
                start_id=uuid.uuid5(uuid.NAMESPACE_OID, f"reward/{reward.address}/{reward.attempt}"),
            )
            Reward.objects.filter(pk=reward.pk).update(run=run)


def _given(rows: Collection[RewardAsked]) -> dict[str, Given]:
    return {row.solution: _given_for(row) for row in rows}


def _given_for(row: RewardAsked) -> Given:
    if row.is_late:
        return Given(None, LATE)
    if row.reward.share is not None:
        return Given(row.reward.share)
    return Given(None, WITHOUT if row.reward.state == RewardState.UNSCORED else FAILED, row.reward.trouble)


def _collect(ended: QuerySet[Reward]) -> None:
    """Keep what the gradings gave whose runs have ended."""
    for reward in ended.select_related("run").distinct():
        rows = RunEvent.objects.filter(run=reward.run, kind=Kind.GRADING_REACHED, body__name=FINAL).order_by("-seq")
        body = rows.values_list("body", flat=True).first()
        if body is None:
            _end(reward, RewardState.FAILED, (reward.run.status_reason if reward.run else "") or NO_RESULT)
            continue
        grading = Grading.model_validate(body["grading"])
        if grading.failure:
            _end(reward, RewardState.FAILED, grading.failure)
        elif grading.points is None or not grading.scale:
            _end(reward, RewardState.UNSCORED, grading.unscored)
        else:
            _end(reward, RewardState.SCORED, "", float(grading.points / grading.scale))


def _end(reward: Reward, state: RewardState, trouble: str, share: float | None = None) -> None:
    ended = {"state": state, "trouble": trouble, "share": share, "ended_at": timezone.now()}
    Reward.objects.filter(pk=reward.pk, state__in=_OPEN).update(**ended)


@dataclass(frozen=True)
class RewardCounts:
    """Rewards that a job asked for, for its page."""

    asked: int = 0
    waiting: int = 0
    not_begun: int = 0
    known: int = 0
    late: int = 0
    without: int = 0


def reward_counts(job: TrainingJob) -> RewardCounts:
    """Count the rewards of a job."""
    without = Q(is_settled=True, is_late=False, reward__state__in=(RewardState.UNSCORED, RewardState.FAILED))
    found = RewardAsked.objects.filter(job=job).aggregate(
        asked=Count("pk"),
        waiting=Count("pk", filter=Q(is_settled=False)),
        not_begun=Count("pk", filter=Q(is_settled=False, reward__run__started_at=None, reward__state__in=_OPEN)),
        known=Count("pk", filter=Q(is_known=True)),
        late=Count("pk", filter=Q(is_late=True)),
        without=Count("pk", filter=without),
    )
    return RewardCounts(**found)
