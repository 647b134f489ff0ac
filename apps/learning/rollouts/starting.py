"""Runs of a job that are to be started next: their number within the capacity, their problems, and the runs themselves."""

import heapq
import uuid
from collections import Counter
from collections.abc import Iterator

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count

from apps.explorations.starting.plans import Plan, plan_spec, problem_text
from apps.learning.models import Rollout, TrainingJob, under_way
from apps.learning.rollouts.plan import RolloutPlan
from apps.learning.rollouts.resting import rests_of, runs_wanted
from apps.problems.models import Problem, ProblemVersion
from apps.processes.capacity import room_of
from apps.reasoning.inference.aliases import load_aliases
from apps.reasoning.scaffolds.spec import BATCH, RunSpec
from apps.runs.models import LIVE, ROLLOUT, RunStatus
from apps.runs.services import run_create

#: Runs started between two looks at the trainer and at requests to stop.
AT_MOST = 128
_LARGEST_SEED = 2**31


def room_for(job: TrainingJob, plan: RolloutPlan) -> int:
    """How many runs the job may start now, under the limit that all jobs with own runs share."""
    live = Rollout.objects.filter(run__status__in=LIVE)
    parties = TrainingJob.objects.filter(under_way()).exclude(rollouts={}).count()
    own, others = live.filter(job=job).count(), live.exclude(job=job).count()
    return room_of(at_once=plan.at_once, limit=settings.ROLLOUTS_AT_ONCE, parties=parties, own=own, others=others)


class Starter:
    """Starts the runs of one job. What runs on a problem share is planned once."""

    def __init__(self, job: TrainingJob, plan: RolloutPlan) -> None:
        self.job, self.plan = job, plan
        self._planned: dict[int, RunSpec] = {}

    def counted(self, gave_rows: Counter[str]) -> Counter[str]:
        """Runs by problem that count: under way, finished, and those that ended early but `gave_rows`."""
        alive = Rollout.objects.filter(job=self.job, run__status__in=(*LIVE, RunStatus.FINISHED)).order_by()
        return gave_rows + Counter(dict(alive.values_list("problem").annotate(count=Count("pk"))))

    def wanted(self, gave_rows: Counter[str]) -> int:
        """Number of runs that count when the job has played all, without visits that are left out."""
        if not (rests := rests_of(self.job.folder, self.plan)):
            return self.plan.runs
        counted = self.counted(gave_rows)
        return sum(runs_wanted(self.plan, counted[slug], rests[slug]) for slug in self.plan.problems)

    def start(self, room: int, gave_rows: Counter[str]) -> int:
        """Start at most `room` runs, visit by visit, and return their number. `gave_rows`: ended early, by problem."""
        number, started = Rollout.objects.filter(job=self.job).count(), 0
        for started, slug in enumerate(self._next(self.counted(gave_rows)), 1):
            self._start_run(number + started - 1, slug)
            if started >= min(room, AT_MOST):
                break
        return started

    def _next(self, counted: Counter[str]) -> Iterator[str]:
        """Problems visit by visit, so that all problems are played with about the same policy."""
        size, rests = self.plan.runs_a_group, rests_of(self.job.folder, self.plan)
        wanted = {slug: runs_wanted(self.plan, counted[slug], rests[slug]) for slug in self.plan.problems}
        heap = [(counted[slug] // size + rests[slug], place, slug) for place, slug in enumerate(self.plan.problems)]
        heapq.heapify(heap)
        while heap:
            _, place, slug = heapq.heappop(heap)
            if counted[slug] >= wanted[slug]:
                continue
            yield slug
            counted[slug] += 1
            heapq.heappush(heap, (counted[slug] // size + rests[slug], place, slug))

    def _start_run(self, number: int, slug: str) -> None:
        problem = Problem.objects.filter(slug=slug).first()
        if problem is None:
            raise ValidationError(f"The problem {slug} no longer exists.")
        version = problem.current
        seed = (int(self.job.config.get("seed", 0)) * 1_000_003 + number) % _LARGEST_SEED
        with transaction.atomic():
            run = run_create(
                owner=self.job.owner,
                problem_version=version,
                title=f"{self.job.title}: {problem.title}"[:200],
                spec=self._spec(version).model_copy(update={"seed": seed, "preset": ROLLOUT, "priority": BATCH}),
                start_id=uuid.uuid5(self.job.public_id, f"rollout/{number}"),
            )
            Rollout.objects.create(job=self.job, number=number, problem=slug, run=run)

    def _spec(self, version: ProblemVersion) -> RunSpec:
        if version.pk not in self._planned:
            plan = Plan(
                self.plan.scaffold,
                self.plan.preset,
                self.plan.overrides,
                role_aliases={"": self.plan.alias},
                max_new_tokens=self.plan.max_new_tokens,
                temperature=self.plan.temperature,
                segment_tokens=self.plan.segment_tokens,
                capture=True,
            )
            self._planned[version.pk] = plan_spec(plan, problem_text(version), load_aliases(settings.MODELS_FILE))
        return self._planned[version.pk]
