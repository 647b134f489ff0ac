"""Advance experiments: start cells while there is capacity, settle lost ones, pause on repeated failures, mark as done."""

import gc
import logging
from collections.abc import Mapping

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from apps.experiments.cells import NO_RESULT, CellBatch, cell_start
from apps.experiments.models import (
    CellScore,
    CellState,
    Experiment,
    ExperimentCell,
    ExperimentKind,
    ExperimentState,
    SolvingCell,
    SolvingState,
)
from apps.experiments.solving import cells as solving
from apps.experiments.solving import grading
from apps.experiments.solving.curves.recording import answers_record
from apps.experiments.solving.people.answers import answers_settle
from apps.experiments.solving.scoring import scores_add
from apps.graders.planning.naming import aliases_in
from apps.processes.capacity import FAILURES_AT_MOST, GRADINGS, last_failure
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias, load_measurable
from apps.runs.models import LIVE, RunStatus

log = logging.getLogger(__name__)
#: Cells between two collections, because automatic collection is set to be rare in this process.
COLLECT_EVERY = 100
_since_collected = 0
_UNDER_WAY = (CellState.WAITING, CellState.RUNNING)


def conduct() -> None:
    """Advance every experiment, and collect garbage now and then: a run leaves some hundred objects in cycles."""
    global _since_collected
    _since_collected += conduct_once()
    if _since_collected >= COLLECT_EVERY:
        _since_collected = 0
        gc.collect()


def conduct_once() -> int:
    """Advance every running experiment and return the number of cells started. Capacity is shared equally."""
    lost_cells_fail()
    running = list(Experiment.objects.filter(state=ExperimentState.RUNNING).order_by("begun_at").values_list("pk", flat=True))
    if not running:
        return 0
    try:
        aliases = load_measurable(settings.MODELS_FILE)
    except AliasError as error:
        for pk in running:
            _pause(pk, str(error))
        return 0
    parties = GRADINGS.parties()
    return sum(_advanced(pk, aliases, parties) for pk in running)


def _advanced(experiment_pk: int, aliases: Mapping[str, Alias], parties: int) -> int:
    """Advance one experiment; an error pauses it and leaves the others alone."""
    try:
        return experiment_advance(experiment_pk, aliases, parties)
    except DatabaseError:
        raise
    except Exception as error:
        log.exception("experiment %s could not advance", experiment_pk)
        _pause(experiment_pk, f"Paused after an internal error ({type(error).__name__}). Staff find it in the log.")
        return 0


@transaction.atomic
def experiment_advance(experiment_pk: int, aliases: Mapping[str, Alias], parties: int) -> int:
    """Start as many cells as there is capacity for, shared by `parties`; return the number started.

    `aliases` include candidates, which play in experiments on solving only.
    """
    experiment = Experiment.objects.select_for_update().filter(pk=experiment_pk, state=ExperimentState.RUNNING).first()
    if experiment is None:
        return 0
    if experiment.kind == ExperimentKind.GRADING:
        aliases = {name: one for name, one in aliases.items() if not one.candidate}
    if reason := _failing(experiment, aliases):
        _pause(experiment.pk, reason)
        return 0
    if experiment.kind == ExperimentKind.SOLVING:
        return _advance_solving(experiment, aliases, parties)
    room = _room(experiment, parties, experiment.cells.filter(state=CellState.RUNNING).count())
    found = list(cells_ready(experiment)[:room])
    batch = CellBatch(experiment, aliases)
    for cell in found:
        cell_start(cell, batch)
    if not found and not experiment.cells.filter(state__in=_UNDER_WAY).exists():
        _done(experiment)
    return len(found)


def _advance_solving(experiment: Experiment, aliases: Mapping[str, Alias], parties: int) -> int:
    """Score what has ended, start cells, then gradings of answers."""
    is_busy = _solving_under_way(experiment)  # Before the scores: a cell that ends in between is scored in the next round.
    batch = solving.SolvingBatch(experiment, aliases)
    scored = scores_add(experiment) + answers_record(experiment, batch.manifest) + answers_settle(experiment)
    own = experiment.solving_cells.filter(state=SolvingState.RUNNING).count()
    own += CellScore.objects.filter(cell__experiment=experiment, state=CellScore.State.RUNNING).count()
    room = _room(experiment, parties, own)
    cells = list(solving.cells_ready(experiment)[:room])
    for cell in cells:
        solving.cell_start(cell, batch)
    scores = list(grading.scores_ready(experiment, batch.manifest)[: max(0, room - len(cells))])
    graders = grading.Graders(experiment, batch.manifest, aliases)
    for score in scores:
        grading.score_start(score, graders)
    if not (cells or scores or scored or is_busy):
        _done(experiment)
    return len(cells) + len(scores) + scored


def _solving_under_way(experiment: Experiment) -> bool:
    cells = experiment.solving_cells.filter(state__in=(SolvingState.WAITING, SolvingState.RUNNING))
    scores = CellScore.objects.filter(cell__experiment=experiment, state__in=(CellScore.State.WAITING, CellScore.State.RUNNING))
    return cells.exists() or scores.exists()


def _done(experiment: Experiment) -> None:
    ended = {"state": ExperimentState.DONE, "state_reason": "", "ended_at": timezone.now()}
    Experiment.objects.filter(pk=experiment.pk).update(**ended)


def cells_ready(experiment: Experiment) -> QuerySet[ExperimentCell]:
    """Waiting cells that can start now; cells that need pieces follow the cell that prepares them.

    Graders share pieces (an ensemble shares those of its members). Per problem, only one cell with the same preparing models
    runs at a time.
    """
    preparing = ExperimentCell.objects.filter(experiment=experiment, problem=OuterRef("problem"), prepares=True)
    mine = preparing.filter(workflow=OuterRef("workflow"), alias=OuterRef("alias"), state__in=_UNDER_WAY)
    before = Q(state=CellState.RUNNING) | Q(state=CellState.WAITING, position__lt=OuterRef("position"))
    follows = Q(prepares=False) & Q(~Exists(mine))
    for alias in experiment.aliases:
        sharing = [other for other in experiment.aliases if aliases_in(other) & aliases_in(alias)]
        follows |= Q(prepares=True, alias=alias) & Q(~Exists(preparing.filter(before, alias__in=sharing)))
    ready = experiment.cells.filter(follows, state=CellState.WAITING)
    return ready.select_related(
        "run",
        "script__graded_set",
        "script__problem__problem",
        "version__submission__problem__version__problem",
        "version__submission__paper",
    ).order_by("position")


def lost_cells_fail() -> None:
    """Mark running cells as failed whose run ended without reporting, because its journal could not be written.

    Includes cells of paused and cancelled experiments, which also take up capacity.
    """
    lost = ExperimentCell.objects.filter(state=CellState.RUNNING).exclude(run__status__in=LIVE)
    for cell in lost.exclude(experiment__state=ExperimentState.DONE).select_related("run"):
        trouble = cell.run.status_reason if cell.run is not None and cell.run.status_reason else NO_RESULT
        ended = {"state": CellState.FAILED, "trouble": trouble, "ended_at": timezone.now()}
        lost.filter(pk=cell.pk).update(**ended)
    gone = SolvingCell.objects.filter(state=SolvingState.RUNNING).exclude(run__status__in=LIVE)
    for one in gone.select_related("run"):
        solving.cell_lost(one)
    grading.scores_lost()


def _room(experiment: Experiment, parties: int, own: int) -> int:
    """Number of cells that this experiment may start, given its own and all other gradings."""
    return GRADINGS.room(at_once=experiment.at_once, limit=settings.GRADING_AT_ONCE, parties=parties, own=own)


def _failing(experiment: Experiment, aliases: Mapping[str, Alias]) -> str:
    """Reason to pause the experiment, or "".

    A cell without a run counts only if its model was removed. Faults of one script or problem do not predict the next cell,
    and neither does a missing answer, as when a script is too long for its model.
    """
    if experiment.kind == ExperimentKind.SOLVING:
        return _failing_runs(experiment)
    unanswered = Q(state=CellState.FAILED, run__status=RunStatus.FINISHED) & ~Q(trouble=NO_RESULT)
    available = [players for players in experiment.aliases if aliases_in(players) <= set(aliases)]
    relevant = experiment.cells.filter(Q(run__isnull=False) | ~Q(alias__in=available), ended_at__gte=experiment.begun_at)
    newest = list(relevant.exclude(unanswered).order_by("-ended_at", "-pk").values_list("state", "trouble")[:FAILURES_AT_MOST])
    reason = last_failure(newest)
    return "" if reason is None else f"Paused after {FAILURES_AT_MOST} failed gradings in a row. The last error: {reason}"


def _failing_runs(experiment: Experiment) -> str:
    """As `_failing`. A cell that could not start, for its method or problem, does not predict the next one."""
    since = {"run__isnull": False, "ended_at__gte": experiment.begun_at}
    cells = experiment.solving_cells.filter(**since).order_by("-ended_at", "-pk")
    scores = CellScore.objects.filter(cell__experiment=experiment, **since).order_by("-ended_at", "-pk")
    for words, rows in (("runs", cells), ("gradings", scores)):
        reason = last_failure(rows.values_list("state", "trouble")[:FAILURES_AT_MOST])
        if reason is not None:
            return f"Paused after {FAILURES_AT_MOST} failed {words} in a row. The last error: {reason}"
    return ""


def _pause(experiment_pk: int, reason: str) -> None:
    paused = {"state": ExperimentState.PAUSED, "state_reason": reason}
    Experiment.objects.filter(pk=experiment_pk, state=ExperimentState.RUNNING).update(**paused)
