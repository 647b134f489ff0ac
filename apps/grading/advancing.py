"""What moves an experiment on: begin cells while there is room, see what was lost, pause where everything fails, end it."""

from collections.abc import Mapping

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from apps.grading.cells import NO_RESULT, Together, cell_begin
from apps.grading.models import CellState, Experiment, ExperimentCell, ExperimentState
from apps.grading.naming import aliases_in
from apps.grading.starting import models_for_grading
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias
from apps.runs.models import LIVE, RunStatus

#: So many failures after one another, and the experiment waits for a person.
FAILURES_AT_MOST = 5
_UNDER_WAY = (CellState.WAITING, CellState.RUNNING)


def conduct_once() -> int:
    """Look at every running experiment; how many cells were begun. They share the places fairly."""
    lost_settle()
    running = list(Experiment.objects.filter(state=ExperimentState.RUNNING).order_by("begun_at").values_list("pk", flat=True))
    if not running:
        return 0
    try:
        aliases = models_for_grading()
    except AliasError as error:
        for pk in running:
            _pause(pk, str(error))
        return 0
    share = max(1, settings.GRADING_AT_ONCE // len(running))
    return sum(experiment_advance(pk, aliases, share) for pk in running)


@transaction.atomic
def experiment_advance(experiment_pk: int, aliases: Mapping[str, Alias], share: int) -> int:
    """Begin what there is room for, at most `share` at once; how many cells were begun."""
    experiment = Experiment.objects.select_for_update().filter(pk=experiment_pk, state=ExperimentState.RUNNING).first()
    if experiment is None:
        return 0
    if reason := _failing(experiment, aliases):
        _pause(experiment.pk, reason)
        return 0
    room = min(experiment.at_once, share, _places_free(experiment))
    room -= experiment.cells.filter(state=CellState.RUNNING).count()
    found = list(cells_ready(experiment)[:room]) if room > 0 else []
    together = Together(experiment, aliases)
    for cell in found:
        cell_begin(cell, together)
    if not found and not experiment.cells.filter(state__in=_UNDER_WAY).exists():
        ended = {"state": ExperimentState.DONE, "state_reason": "", "ended_at": timezone.now()}
        Experiment.objects.filter(pk=experiment.pk).update(**ended)
    return len(found)


def cells_ready(experiment: Experiment) -> QuerySet[ExperimentCell]:
    """Cells that wait for nothing: those whose pieces another cell is about to prepare come after it.

    Graders share pieces (an ensemble those of its members): of cells that prepare with the same models, a problem has one
    under way at a time.
    """
    preparing = ExperimentCell.objects.filter(experiment=experiment, problem=OuterRef("problem"), prepares=True)
    mine = preparing.filter(workflow=OuterRef("workflow"), alias=OuterRef("alias"), state__in=_UNDER_WAY)
    before = Q(state=CellState.RUNNING) | Q(state=CellState.WAITING, position__lt=OuterRef("position"))
    follows = Q(prepares=False) & Q(~Exists(mine))
    for alias in experiment.aliases:
        together = [other for other in experiment.aliases if aliases_in(other) & aliases_in(alias)]
        follows |= Q(prepares=True, alias=alias) & Q(~Exists(preparing.filter(before, alias__in=together)))
    ready = experiment.cells.filter(follows, state=CellState.WAITING)
    return ready.select_related(
        "run",
        "script__graded_set",
        "script__problem__problem",
        "version__submission__problem__version__problem",
        "version__submission__paper",
    ).order_by("position")


def lost_settle() -> None:
    """End cells whose run ended without telling: its journal could not be written. Those of paused and cancelled experiments
    too, since they hold places.
    """
    lost = ExperimentCell.objects.filter(state=CellState.RUNNING).exclude(run__status__in=LIVE)
    for cell in lost.exclude(experiment__state=ExperimentState.DONE).select_related("run"):
        trouble = cell.run.status_reason if cell.run is not None and cell.run.status_reason else NO_RESULT
        ended = {"state": CellState.FAILED, "trouble": trouble, "ended_at": timezone.now()}
        lost.filter(pk=cell.pk).update(**ended)


def _places_free(experiment: Experiment) -> int:
    """How many cells this experiment may have under way, given those of the others."""
    others = ExperimentCell.objects.filter(state=CellState.RUNNING).exclude(experiment=experiment).count()
    return max(0, settings.GRADING_AT_ONCE - others)


def _failing(experiment: Experiment, aliases: Mapping[str, Alias]) -> str:
    """Why it makes no sense to go on; empty where it does.

    A cell without a run counts where its model is gone: what a script or its problem lacks says nothing about the next one,
    nor does an answer that never came, as where a script is too long for its model.
    """
    unanswered = Q(state=CellState.FAILED, run__status=RunStatus.FINISHED) & ~Q(trouble=NO_RESULT)
    there = [players for players in experiment.aliases if aliases_in(players) <= set(aliases)]
    telling = experiment.cells.filter(Q(run__isnull=False) | ~Q(alias__in=there), ended_at__gte=experiment.begun_at)
    newest = list(telling.exclude(unanswered).order_by("-ended_at", "-pk").values_list("state", "trouble")[:FAILURES_AT_MOST])
    if len(newest) < FAILURES_AT_MOST or any(state != CellState.FAILED for state, _ in newest):
        return ""
    return f"{FAILURES_AT_MOST} gradings failed one after another. The last one: {newest[0][1]}"


def _pause(experiment_pk: int, reason: str) -> None:
    paused = {"state": ExperimentState.PAUSED, "state_reason": reason}
    Experiment.objects.filter(pk=experiment_pk, state=ExperimentState.RUNNING).update(**paused)
