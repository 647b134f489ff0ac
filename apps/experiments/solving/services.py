"""Writes on experiments on solving: start, extend, retry, cancel. Each is one transaction."""

import uuid
from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from apps.accounts.models import User
from apps.experiments.conductor import CONDUCTOR
from apps.experiments.models import CellScore, Experiment, ExperimentKind, ExperimentState, SolvingCell, SolvingState
from apps.experiments.refusals import CELLS_AT_MOST, ExperimentRefused
from apps.experiments.solving.manifest import Manifest, manifest_of
from apps.experiments.solving.matrix import Place, places
from apps.problem_sets.models import ProblemSetItem, ProblemSetVersion
from apps.runs.models import LIVE, RunStatus
from apps.runs.services import command_request

_BATCH = 500


def set_version_of(name: str) -> ProblemSetVersion:
    """The version of a set by `slug@number`. Raises `ExperimentRefused`."""
    slug, _, number = name.partition("@")
    found = ProblemSetVersion.objects.filter(problem_set__slug=slug, number=number).select_related("problem_set").first()
    if found is None:
        raise ExperimentRefused(f"There is no problem set {name}. Import it first, under Problems, Sets.")
    return found


def items_chosen(manifest: Manifest) -> list[ProblemSetItem]:
    """The problems of a manifest, in the order of the set. Raises `ExperimentRefused`."""
    rows = set_version_of(manifest.problems.set).items.select_related("problem__problem", "version")
    if manifest.problems.split:
        rows = rows.filter(split=manifest.problems.split)
    found = list(rows)
    if manifest.problems.names:
        names = {item.name for item in found}
        if unknown := [name for name in manifest.problems.names if name not in names]:
            raise ExperimentRefused(f"{manifest.problems.set} has no problem {unknown[0]} among those chosen.")
        found = [item for item in found if item.name in manifest.problems.names]
    if not found:
        raise ExperimentRefused("No problem is chosen. Choose another split, or a set with problems.")
    return found


@transaction.atomic
def solving_start(*, owner: User | None, manifest: Manifest, start_id: uuid.UUID | None = None) -> Experiment:
    """Create an experiment with all its cells and start it. A form sent twice creates one. Raises `ExperimentRefused`."""
    known = Experiment.objects.filter(start_id=start_id).first() if start_id else None
    if known is not None:
        if known.owner_id != (owner.pk if owner else None):
            raise ExperimentRefused("Nothing was started: this form was already sent by another user. Reload the page.")
        return known
    if Experiment.objects.filter(title=manifest.title, owner=owner, kind=ExperimentKind.SOLVING).exists():
        raise ExperimentRefused(f"You already have an experiment “{manifest.title}”. Choose another title, or extend that one.")
    items = items_chosen(manifest)
    experiment = Experiment.objects.create(
        kind=ExperimentKind.SOLVING,
        start_id=start_id,
        title=manifest.title,
        owner=owner,
        problem_set=items[0].version,
        manifest=manifest.model_dump(mode="json"),
        workflows=[],
        aliases=[],
        at_once=manifest.at_once,
        begun_at=timezone.now(),
    )
    _add_cells(experiment, manifest, items)
    return experiment


@transaction.atomic
def solving_extend(*, experiment: Experiment, manifest: Manifest) -> int:
    """Add the cells and scorers of a larger manifest; finished cells stay as they are.

    Returns the number of new cells. Raises `ExperimentRefused`.
    """
    locked = Experiment.objects.select_for_update().get(pk=experiment.pk)
    if locked.state == ExperimentState.CANCELLED:
        raise ExperimentRefused("A cancelled experiment cannot be extended. Start a new one.")
    old = manifest_stored(locked)
    if refusal := manifest.adds_to(old):
        raise ExperimentRefused(refusal)
    items = items_chosen(manifest)
    count = _add_cells(locked, manifest, items)
    values: dict[str, Any] = {"manifest": manifest.model_dump(mode="json"), "at_once": manifest.at_once}
    values |= {"problem_set": items[0].version, "title": manifest.title}
    if count or manifest.scorers != old.scorers:
        values |= {"state": ExperimentState.RUNNING, "state_reason": "", "begun_at": timezone.now(), "ended_at": None}
    Experiment.objects.filter(pk=locked.pk).update(**values)
    return count


def manifest_stored(experiment: Experiment) -> Manifest:
    """The manifest of an experiment on solving."""
    return manifest_of(experiment.manifest or {})


def _add_cells(experiment: Experiment, manifest: Manifest, items: Sequence[ProblemSetItem]) -> int:
    """Add the cells that the experiment lacks. Raises `ExperimentRefused` for another text under a known name."""
    fields = ("item__name", "method", "team", "budget", "repeat")
    known = {Place(*row) for row in experiment.solving_cells.values_list(*fields)}
    last = experiment.solving_cells.aggregate(last=Max("position"))["last"] or 0
    by_name = {item.name: item for item in items}
    texts = experiment.solving_cells.values_list("item__name", "item__problem__statement", "item__problem__answer").distinct()
    for name, *text in texts:
        if (item := by_name.get(name)) and text != [item.problem.statement, item.problem.answer]:
            raise ExperimentRefused(f"{name} has another text in {item.version}. Start a new experiment on that version.")
    new = [place for place in places(manifest, list(by_name)) if place not in known]
    if len(new) + len(known) > CELLS_AT_MOST:
        raise ExperimentRefused(
            f"These are {len(new) + len(known):,} cells; an experiment has at most {CELLS_AT_MOST:,}. "
            "Choose fewer problems, methods, teams, budgets or repeats."
        )
    cells = [
        SolvingCell(
            experiment=experiment,
            position=position,
            item=by_name[place.problem],
            method=place.method,
            team=place.team,
            budget=place.budget,
            repeat=place.repeat,
        )
        for position, place in enumerate(new, last + 1)
    ]
    SolvingCell.objects.bulk_create(cells, batch_size=_BATCH)
    transaction.on_commit(CONDUCTOR.wake)
    return len(cells)


def cells_cancel(experiment: Experiment, user: User) -> None:
    """Cancel waiting cells and stop running ones. Runs that other experiments wait for continue."""
    now = timezone.now()
    experiment.solving_cells.filter(state=SolvingState.WAITING).update(state=SolvingState.CANCELLED, ended_at=now)
    scores = CellScore.objects.filter(cell__experiment=experiment)
    scores.filter(state=CellScore.State.WAITING).delete()
    gradings = scores.filter(state=CellScore.State.RUNNING, run__status__in=LIVE).select_related("run")
    cells = experiment.solving_cells.filter(state=SolvingState.RUNNING, run__status__in=LIVE).select_related("run")
    for run in {one.run for one in cells} | {one.run for one in gradings}:
        shared = SolvingCell.objects.filter(run=run, state=SolvingState.RUNNING).exclude(experiment=experiment)
        if run is None or shared.exists():
            continue
        try:
            key = uuid.uuid5(run.public_id, f"cancel/{experiment.public_id}")
            command_request(run=run, user=user, command_id=key, name="cancel")
        except ValidationError:
            if run.status in LIVE:
                raise


def cells_retry(experiment: Experiment) -> int:
    """Requeue failed cells and gradings; a cell's run that can be resumed keeps its recorded calls. Returns their number."""
    failed = experiment.solving_cells.filter(state=SolvingState.FAILED)
    failed.filter(run__status__in=(RunStatus.NEEDS_FORK, RunStatus.CANCELLED, RunStatus.FINISHED)).update(
        run=None, attempt=F("attempt") + 1
    )
    scores = CellScore.objects.filter(cell__experiment=experiment, state=CellScore.State.FAILED)
    again = scores.update(state=CellScore.State.WAITING, run=None, attempt=F("attempt") + 1, trouble="", ended_at=None)
    return again + failed.update(state=SolvingState.WAITING, trouble="", ended_at=None)
