"""Cells of experiments on solving: start their runs, or take over equal ones, and record how they ended."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Count, QuerySet, Sum
from django.utils import timezone

from apps.experiments.conductor import CONDUCTOR
from apps.experiments.models import Experiment, ExperimentState, SolvingCell, SolvingState
from apps.experiments.solving.matrix import Place
from apps.experiments.solving.planning import CellWrong, Planner, address_of
from apps.experiments.solving.services import manifest_stored
from apps.reasoning.domain.events import RunCancelled, RunFailed, RunFinished
from apps.reasoning.inference.aliases import Alias
from apps.runs.access import run_visible_to
from apps.runs.journal.batch import NumberedEvent
from apps.runs.models import BATCHED, Run, RunCommand, RunStatus, Step
from apps.runs.services import run_create, run_requeue

TITLE_LENGTH = 200
NO_END = "The run ended without a result."
CANCELLED = "The run was cancelled on its page."
ASSISTED = "A person steered this run, so it does not count. Retry the cell for a run of its own."


class SolvingBatch:
    """What cells that start in one transaction share."""

    def __init__(self, experiment: Experiment, aliases: Mapping[str, Alias]) -> None:
        self.experiment = experiment
        self.manifest = manifest_stored(experiment)
        self.planner = Planner(self.manifest, aliases, experiment.owner)


def cells_ready(experiment: Experiment) -> QuerySet[SolvingCell]:
    """Waiting cells in their order."""
    waiting = experiment.solving_cells.filter(state=SolvingState.WAITING)
    return waiting.select_related("item__problem__problem", "run").order_by("position")


def cell_start(cell: SolvingCell, batch: SolvingBatch) -> None:
    """Queue the run of a cell, take over an equal one, or end the cell with the reason. Call it in a transaction."""
    if cell.run is not None and not cell.taken_over and run_requeue(cell.run):
        _update(cell, state=SolvingState.RUNNING, trouble="", ended_at=None)
        return
    place = Place(cell.item.name, cell.method, cell.team, cell.budget, cell.repeat)
    try:
        spec = batch.planner.spec(place, cell.item.problem)
    except CellWrong as error:
        _update(cell, state=SolvingState.FAILED, trouble=str(error), ended_at=timezone.now())
        transaction.on_commit(CONDUCTOR.wake)
        return
    address = address_of(spec)
    if (run := _equal_run(address, batch)) is not None:
        _update(cell, state=SolvingState.RUNNING, address=address, run=run, taken_over=True, trouble="", ended_at=None)
        if run.status == RunStatus.FINISHED:
            _finish(SolvingCell.objects.filter(pk=cell.pk), run)
        return
    run = run_create(
        owner=batch.experiment.owner,
        problem_version=cell.item.problem,
        title=f"{batch.experiment.title}: {cell.item.name}, {cell.method}"[:TITLE_LENGTH],
        spec=spec,
        start_id=uuid.uuid5(batch.experiment.public_id, f"{cell.public_id}/{cell.attempt}"),
    )
    _update(cell, state=SolvingState.RUNNING, address=address, run=run, taken_over=False, trouble="", ended_at=None)


def _equal_run(address: str, batch: SolvingBatch) -> Run | None:
    """A run of the same address that has finished or is under way, among those that the owner may see."""
    usable = (RunStatus.FINISHED, RunStatus.RUNNING, RunStatus.QUEUED)
    known = SolvingCell.objects.filter(address=address, run__status__in=usable, run__is_assisted=False)
    if not batch.manifest.take_over:
        known = known.filter(experiment=batch.experiment)
    runs = list(known.order_by("pk").values_list("run", flat=True))
    if not runs:  # The usual case: the rules of who sees which run cost more than all else that starts a cell.
        return None
    cancelled = RunCommand.objects.filter(name="cancel", state=RunCommand.State.PENDING, run__in=runs)
    found = Run.objects.filter(pk__in=runs).exclude(pk__in=cancelled.values("run"))
    if batch.experiment.owner is not None:
        found = found.filter(pk__in=run_visible_to(batch.experiment.owner).filter(pk__in=runs).values("pk"))
    return found.order_by("pk").first()


def follow(run: Run, events: Sequence[NumberedEvent]) -> None:
    """Record the end of a run in its cells, in the transaction that records its events, then wake the conductor."""
    if run.preset != BATCHED:
        return
    for _, _, _, event in events:
        if isinstance(event, RunFinished):
            _finish(_running(run), run, event)
        elif isinstance(event, RunFailed | RunCancelled):
            _fail(run, event.reason or (CANCELLED if isinstance(event, RunCancelled) else NO_END))


def _fail(run: Run, reason: str) -> None:
    """End the cells of a run: cancelled in a cancelled experiment, else failed, so that they can be retried."""
    ended = {"trouble": reason, "ended_at": timezone.now()}
    cells = _running(run)
    cells.filter(experiment__state=ExperimentState.CANCELLED).update(state=SolvingState.CANCELLED, **ended)
    cells.update(state=SolvingState.FAILED, **ended)
    transaction.on_commit(CONDUCTOR.wake)


def cell_lost(cell: SolvingCell) -> None:
    """End a cell whose run ended without a report, or ended in the same moment as the cell took it over."""
    if cell.run is not None and cell.run.status == RunStatus.FINISHED:
        _finish(SolvingCell.objects.filter(pk=cell.pk, state=SolvingState.RUNNING), cell.run)
        return
    trouble = cell.run.status_reason if cell.run is not None and cell.run.status_reason else NO_END
    lost = SolvingCell.objects.filter(pk=cell.pk, run=cell.run, state=SolvingState.RUNNING)
    lost.update(state=SolvingState.FAILED, trouble=trouble, ended_at=timezone.now())


def _running(run: Run) -> QuerySet[SolvingCell]:
    return SolvingCell.objects.filter(run=run, state=SolvingState.RUNNING)


def _finish(cells: QuerySet[SolvingCell], run: Run, event: RunFinished | None = None) -> None:
    spent = Run.objects.values("is_assisted", "calls", "prompt_tokens", "completion_tokens").get(pk=run.pk)
    if spent["is_assisted"]:
        cells.update(state=SolvingState.FAILED, trouble=ASSISTED, ended_at=timezone.now())
        transaction.on_commit(CONDUCTOR.wake)
        return
    outcome = {"proof": event.proof, "accepted": event.accepted} if event else run.outcome or {}
    by_alias = {alias: (count, *rest) for alias, count, *rest in _use(run)}
    cells.update(
        state=SolvingState.FINISHED,
        answer=outcome.get("proof", ""),
        accepted=outcome.get("accepted"),
        calls=spent["calls"],
        prompt_tokens=spent["prompt_tokens"],
        completion_tokens=spent["completion_tokens"],
        seconds=sum(row[-1] for row in by_alias.values()),
        by_alias={alias: row[:-1] for alias, row in by_alias.items()},
        handed=None,
        ended_at=timezone.now(),
    )
    transaction.on_commit(CONDUCTOR.wake)


def _use(run: Run) -> Iterable[tuple[str, int, int, int, float]]:
    """By alias: calls of the model, tokens of prompts and answers, and seconds. Tools and formula checks do not count."""
    calls = Step.objects.filter(run=run, kind="call").order_by().values_list("alias")
    sums = (Sum("prompt_tokens"), Sum("completion_tokens"), Sum("duration_s"))
    return calls.annotate(Count("pk"), *sums)


def _update(cell: SolvingCell, **values: Any) -> None:
    SolvingCell.objects.filter(pk=cell.pk).update(**values)
