"""Scores by graders: each answer that a cell handed in is graded by a workflow, in a run of its own."""

import functools
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.experiments.cells import prepares_pieces
from apps.experiments.conductor import CONDUCTOR
from apps.experiments.models import CellScore, Experiment
from apps.experiments.solving.manifest import Manifest, Scorer
from apps.experiments.solving.scoring import handed_in
from apps.graders.batches.jobs import Job, material_of
from apps.graders.batches.jobs import text_of as problem_of
from apps.graders.pieces import pieces_known
from apps.graders.planning.naming import VARIANTS, plan_named, players_written, variant_of
from apps.graders.planning.plans import GradingPlan, PlanWrong
from apps.problems.access import solved_visible_to
from apps.problems.models import Problem
from apps.reasoning.domain.events import RunCancelled, RunFailed, RunFinished
from apps.reasoning.domain.grading_events import GradingReached
from apps.reasoning.graders.grader import FINAL
from apps.reasoning.graders.grading import Grading
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.scaffolds.spec import RunSpec
from apps.runs.journal.batch import NumberedEvent
from apps.runs.models import BATCHED, LIVE, Run
from apps.runs.services import run_create

NO_RESULT = "The run ended without a grading."
LACKING = "Add what is missing to the problem and retry, or add another grader."
TITLE_LENGTH = 200
State = CellScore.State


class Graders:
    """The grading plans of an experiment's scorers."""

    def __init__(self, experiment: Experiment, manifest: Manifest, aliases: Mapping[str, Alias]) -> None:
        self.experiment, self.aliases = experiment, aliases
        self.scorers = {one.name: one for one in manifest.scorers if one.kind == "grader"}
        self.plan = functools.cache(self._plan)

    def require_open(self, problem: Problem) -> None:
        """Raise `PlanWrong` if the solutions of a problem, which graders read, are held back from the owner."""
        solutions_require_open(self.experiment.owner, problem)

    def _plan(self, name: str) -> GradingPlan:
        """The plan of a scorer. Raises `PlanWrong`."""
        if name not in self.scorers:
            raise PlanWrong(f"The manifest has no grader {name}.")
        scorer = self.scorers[name]
        variant = variant_of(scorer.workflow)
        return plan_named(variant, players_written(scorer.players, variant.grader), self.aliases)


def solutions_require_open(owner: User | None, problem: Problem) -> None:
    """Raise `PlanWrong` if the solutions of a problem, which graders read, are held back from the owner of a grading."""
    if owner is not None and not solved_visible_to(owner).filter(pk=problem.pk).exists():
        raise PlanWrong("The solutions of the problem are held back from you for now. Retry when they are released.")


def grader_refusal(scorer: Scorer, aliases: Mapping[str, Alias]) -> str:
    """Why a scorer cannot grade anything: an unknown workflow, role or model; "" if it can."""
    try:
        variant = variant_of(scorer.workflow)
        plan_named(variant, players_written(scorer.players, variant.grader), aliases)
    except PlanWrong as error:
        return str(error)
    return ""


def scores_ready(experiment: Experiment, manifest: Manifest) -> QuerySet[CellScore]:
    """Waiting scores by graders that can start now, in the order of their cells.

    The first grading of a problem prepares pieces for the others, which follow when it has ended.
    """
    graders = [one for one in manifest.scorers if one.workflow in VARIANTS]  # Others fail when they start.
    preparing = [one.name for one in graders if prepares_pieces(one.workflow)]
    scores = CellScore.objects.filter(cell__experiment=experiment)
    same = scores.filter(scorer=OuterRef("scorer"), cell__item=OuterRef("cell__item"))
    before = same.filter(Q(state=State.RUNNING) | Q(state=State.WAITING, pk__lt=OuterRef("pk")))
    prepared = same.filter(state__in=(State.SCORED, State.UNSCORED)).exclude(run=None)
    follows = ~Q(scorer__in=preparing) | Exists(prepared) | ~Exists(before)
    waiting = scores.filter(follows, state=State.WAITING)
    return waiting.select_related("cell__run", "cell__item__problem__problem").order_by("cell__position", "pk")


def score_start(score: CellScore, graders: Graders) -> None:
    """Queue the grading of an answer, or end the score with the reason. Call it in a transaction."""
    cell = score.cell
    try:
        text = handed_in(cell, score.answer)
        if not text:
            raise PlanWrong("The run of the cell was deleted, so its answer cannot be graded.")
        plan, stated = graders.plan(score.scorer), cell.item.problem
        graders.require_open(stated.problem)
        job = Job(cell.item.name, problem_of(stated), {**material_of(stated), "script": text})
        spec = _spec(plan, job)
    except PlanWrong as error:
        _update(score, state=State.FAILED, trouble=str(error), ended_at=timezone.now())
        transaction.on_commit(CONDUCTOR.wake)
        return
    run = run_create(
        owner=graders.experiment.owner,
        problem_version=stated,
        title=f"{graders.experiment.title}: {score.scorer}, {cell.item.name}"[:TITLE_LENGTH],
        spec=spec.model_copy(update={"preset": BATCHED}),
        start_id=uuid.uuid5(cell.public_id, f"{score.scorer}/{score.answer}/{score.attempt}"),
    )
    _update(score, state=State.RUNNING, run=run, trouble="", ended_at=None)


def _spec(plan: GradingPlan, job: Job) -> RunSpec:
    """The specification of a grading. Raises `PlanWrong` with what the problem lacks and what to do."""
    try:
        return plan.spec(job, pieces_known(job.problem.statement, plan.roles))
    except PlanWrong as error:
        raise PlanWrong(f"{error} {LACKING}") from error


def follow(run: Run, events: Sequence[NumberedEvent]) -> None:
    """Record a grading in its score, in the transaction that records its events, then wake the conductor."""
    if run.preset != BATCHED:
        return
    for _, _, _, event in events:
        if isinstance(event, GradingReached) and event.name == FINAL:
            _graded(run, Grading.model_validate(event.grading))
        elif isinstance(event, RunFinished):
            _finished(run)
        elif isinstance(event, RunFailed | RunCancelled):
            _running(run).update(state=State.FAILED, trouble=event.reason or NO_RESULT, ended_at=timezone.now())
            transaction.on_commit(CONDUCTOR.wake)


def scores_lost() -> None:
    """Fail scores whose run ended without a report."""
    lost = CellScore.objects.filter(state=State.RUNNING).exclude(run__status__in=LIVE)
    lost.update(state=State.FAILED, trouble=NO_RESULT, ended_at=timezone.now())


def _graded(run: Run, grading: Grading) -> None:
    """Keep the points of a grading; the state follows when its run has finished."""
    if grading.failure:
        _running(run).update(trouble=grading.failure)
        return
    given: dict[str, Any] = {"points": grading.points, "unscored": grading.unscored}
    _running(run).update(scale=None if grading.points is None else grading.scale, **given)


def _finished(run: Run) -> None:
    found = _running(run).first()
    if found is None:
        return
    state = State.SCORED if found.points is not None else State.UNSCORED if found.unscored else State.FAILED
    trouble = (found.trouble or NO_RESULT) if state == State.FAILED else ""
    _update(found, state=state, trouble=trouble, ended_at=timezone.now())
    transaction.on_commit(CONDUCTOR.wake)


def _running(run: Run) -> QuerySet[CellScore]:
    return CellScore.objects.filter(run_id=run.pk, state=State.RUNNING)


def _update(score: CellScore, **values: Any) -> None:
    CellScore.objects.filter(pk=score.pk).update(**values)
