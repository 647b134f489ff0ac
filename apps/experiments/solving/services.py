"""Writes on experiments on solving: plan, start, extend, retry, cancel. Each is one transaction."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Max, Q
from django.utils import timezone

from apps.accounts.models import User
from apps.experiments.conductor import CONDUCTOR
from apps.experiments.models import CellScore, Experiment, ExperimentKind, ExperimentState, SolvingCell, SolvingState
from apps.experiments.refusals import CELLS_AT_MOST, ExperimentRefused, instead_of
from apps.experiments.solving.manifest import Manifest, manifest_of
from apps.experiments.solving.matrix import Place, places
from apps.experiments.solving.people.sampling import sample_draw
from apps.problem_sets.models import ProblemSetItem, ProblemSetVersion
from apps.runs.models import LIVE, RunStatus
from apps.runs.services import command_request

_BATCH = 500
_REOPENED: dict[str, Any] = {"state": ExperimentState.RUNNING, "state_reason": "", "ended_at": None}


def set_version_of(name: str) -> ProblemSetVersion:
    """The version of a set by `slug@number`. Raises `ExperimentRefused`."""
    slug, _, number = name.partition("@")
    found = ProblemSetVersion.objects.filter(problem_set__slug=slug, number=number).select_related("problem_set").first()
    if found is None:
        raise ExperimentRefused(f"There is no problem set {name}. Import it first, under Problems, Sets.")
    return found


def items_chosen(manifest: Manifest, *, names_all: bool = False) -> list[ProblemSetItem]:
    """The problems of a manifest, in the order of the set. Raises `ExperimentRefused`.

    `names_all`: the refusal may name problems of the set. On pages it may not, as some may be held back from the reader.
    """
    rows = set_version_of(manifest.problems.set).items.select_related("problem__problem", "version")
    if manifest.problems.split:
        rows = rows.filter(split=manifest.problems.split)
    found = list(rows)
    if manifest.problems.names:
        names = {item.name for item in found}
        if unknown := [name for name in manifest.problems.names if name not in names]:
            split = f" in the split {manifest.problems.split}" if manifest.problems.split else ""
            advice = instead_of(unknown[0], sorted(names)) if names_all else "The page of the set lists its problems."
            raise ExperimentRefused(f"{manifest.problems.set} has no problem {unknown[0]}{split}. {advice}")
        found = [item for item in found if item.name in manifest.problems.names]
    if not found:
        raise ExperimentRefused("No problem is chosen. Choose another split, or a set with problems.")
    return found


@transaction.atomic
def solving_start(
    *, owner: User | None, manifest: Manifest, start_id: uuid.UUID | None = None, planned: bool = False
) -> Experiment:
    """Create an experiment with all its cells and start it. A form sent twice creates one. Raises `ExperimentRefused`.

    `planned`: nothing is asked before `solving_begin`, or before the same form is sent again without `planned`.
    """
    if known := _sent_before(owner, start_id):
        if known.state == ExperimentState.PLANNED and manifest_stored(known) != manifest:
            raise ExperimentRefused(f"This form was planned with other entries as “{known.title}”. Change and start it there.")
        return known if planned else _begun(known)
    if Experiment.objects.filter(title=manifest.title, owner=owner, kind=ExperimentKind.SOLVING).exists():
        raise ExperimentRefused(
            f"You already have an experiment “{manifest.title}”. Choose another title, or add to that one on its page."
        )
    items = items_chosen(manifest)
    experiment, is_new = Experiment.objects.get_or_create(  # Two requests of one form may come at the same moment.
        start_id=start_id or uuid.uuid4(),
        defaults={
            "kind": ExperimentKind.SOLVING,
            "title": manifest.title,
            "owner": owner,
            "problem_set": items[0].version,
            "manifest": manifest.model_dump(mode="json"),
            "workflows": [],
            "aliases": [],
            "at_once": manifest.at_once,
            "state": ExperimentState.PLANNED if planned else ExperimentState.RUNNING,
            "begun_at": None if planned else timezone.now(),
        },
    )
    if is_new:
        _add_cells(experiment, manifest, items)
    return experiment if is_new else _sent_before(owner, start_id) or experiment


def _sent_before(owner: User | None, start_id: uuid.UUID | None) -> Experiment | None:
    """The experiment of a form that was sent before. Raises `ExperimentRefused` if another user sent it."""
    known = Experiment.objects.filter(start_id=start_id).first() if start_id else None
    if known is not None and known.owner_id != (owner.pk if owner else None):
        raise ExperimentRefused("Nothing was started: this form was already sent by another user. Reload the page.")
    return known


def _begun(known: Experiment) -> Experiment:
    """The experiment of a form that was sent before, started if it was planned."""
    if known.state == ExperimentState.PLANNED:
        solving_begin(known)
    return known


@transaction.atomic
def solving_begin(experiment: Experiment) -> None:
    """Start a planned experiment. Starting twice has no effect. Raises `ExperimentRefused`."""
    rows = Experiment.objects.filter(pk=experiment.pk)
    begun = {"state": ExperimentState.RUNNING, "begun_at": timezone.now()}
    if not rows.filter(state=ExperimentState.PLANNED).update(**begun) and not rows.filter(state=begun["state"]).exists():
        raise ExperimentRefused("Only a planned experiment can be started.")
    transaction.on_commit(CONDUCTOR.wake)


@transaction.atomic
def solving_extend(*, experiment: Experiment, manifest: Manifest) -> int:
    """Add the cells and scorers of a larger manifest; finished cells stay as they are. One that `is_free` is planned again.

    Returns the number of new cells. Raises `ExperimentRefused`.
    """
    locked = Experiment.objects.select_for_update().get(pk=experiment.pk)
    old = manifest_stored(locked)
    manifest, items = solving_extended(locked, manifest)
    if is_free(locked) and manifest != old:
        locked.solving_cells.all().delete()
        locked.rehearsals.all().delete()
    count = _add_cells(locked, manifest, items)
    values: dict[str, Any] = {"manifest": manifest.model_dump(mode="json"), "at_once": manifest.at_once}
    values |= {"problem_set": items[0].version, "title": manifest.title}
    is_more = count or (manifest.scorers, manifest.curves) != (old.scorers, old.curves)
    if is_more and locked.state != ExperimentState.PLANNED:
        values |= _REOPENED | {"begun_at": timezone.now()}
    if manifest.scorers != old.scorers:  # Earlier answers are then scored by the new scorers too.
        locked.solving_cells.update(handed=None)
    Experiment.objects.filter(pk=locked.pk).update(**values)
    return count


def solving_extended(experiment: Experiment, manifest: Manifest) -> tuple[Manifest, list[ProblemSetItem]]:
    """A larger manifest as it will be stored, with its problems. Raises `ExperimentRefused` if it is no extension.

    One that `is_free` may get any manifest.
    """
    if is_free(experiment):
        return manifest, items_chosen(manifest)
    if experiment.state == ExperimentState.CANCELLED:
        raise ExperimentRefused("A cancelled experiment cannot be extended. Start a new one.")
    old = manifest_stored(experiment)
    manifest = manifest.with_imports_of(old)
    if refusal := manifest.adds_to(old):
        raise ExperimentRefused(refusal)
    items = items_chosen(manifest)
    _require_same_problems(experiment, {item.name: item for item in items})
    return manifest.model_copy(update={"curves": manifest.curves or old.curves}), items


def is_free(experiment: Experiment) -> bool:
    """Whether all of an experiment may change: it is planned, and no results were imported into it."""
    return experiment.state == ExperimentState.PLANNED and not manifest_stored(experiment).external


@transaction.atomic
def curves_begin(experiment: Experiment) -> None:
    """Record and score the anytime answers of all cells, also of those that have finished. Raises `ExperimentRefused`."""
    locked = Experiment.objects.select_for_update().get(pk=experiment.pk)
    manifest = manifest_stored(locked)
    if locked.state == ExperimentState.CANCELLED:
        raise ExperimentRefused(
            "A cancelled experiment is not scored any more. Start a new one; it takes over the finished runs."
        )
    if locked.state == ExperimentState.PLANNED:
        raise ExperimentRefused("A planned experiment has no answers yet. Start it first.")
    if not any(one.kind in ("answer", "grader") for one in manifest.scorers):
        raise ExperimentRefused("Curves need a scorer by final answer or by a grader. Add one first.")
    manifest = manifest.model_copy(update={"curves": True})
    locked.solving_cells.update(handed=None)
    Experiment.objects.filter(pk=locked.pk).update(manifest=manifest.model_dump(mode="json"), **_REOPENED)
    transaction.on_commit(CONDUCTOR.wake)


def scoring_reopen(experiment: Experiment) -> None:
    """Let an experiment that is done score new answers. Call it in a transaction."""
    if Experiment.objects.filter(pk=experiment.pk, state=ExperimentState.DONE).update(**_REOPENED):
        transaction.on_commit(CONDUCTOR.wake)


def manifest_stored(experiment: Experiment) -> Manifest:
    """The manifest of an experiment on solving."""
    return manifest_of(experiment.manifest or {})


def _add_cells(experiment: Experiment, manifest: Manifest, items: Sequence[ProblemSetItem]) -> int:
    """Add the cells that the experiment lacks. Raises `ExperimentRefused` for too many."""
    count = len(items) * len(manifest.methods) * len(manifest.teams) * len(manifest.budgets) * manifest.repeats
    if count > CELLS_AT_MOST:
        raise ExperimentRefused(
            f"These are {count:,} cells; an experiment has at most {CELLS_AT_MOST:,}. "
            "Choose fewer problems, methods, teams, budgets or repeats."
        )
    by_name = {item.name: item for item in items}
    known = {Place(*row) for row in experiment.solving_cells.values_list("item__name", "method", "team", "budget", "repeat")}
    last = experiment.solving_cells.aggregate(last=Max("position"))["last"] or 0
    new = [place for place in places(manifest, list(by_name)) if place not in known]
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
    sample_draw(experiment, manifest)
    transaction.on_commit(CONDUCTOR.wake)
    return len(cells)


def _require_same_problems(experiment: Experiment, by_name: Mapping[str, ProblemSetItem]) -> None:
    """Refuse an extension that drops a problem of the experiment or gives it another text."""
    fields = ("item__name", "item__problem__statement", "item__problem__answer")
    for name, *text in experiment.solving_cells.order_by().values_list(*fields).distinct():
        item = by_name.get(name)
        if item is None:
            raise ExperimentRefused(f"The problem {name} is no longer chosen. Keep it, or start a new experiment.")
        if text != [item.problem.statement, item.problem.answer]:
            raise ExperimentRefused(f"{name} has another text in {item.version}. Start a new experiment on that version.")


def cells_cancel(experiment: Experiment, user: User) -> None:
    """Cancel waiting cells and stop running ones. Runs that other experiments wait for continue."""
    now = timezone.now()
    experiment.solving_cells.filter(state=SolvingState.WAITING).update(state=SolvingState.CANCELLED, ended_at=now)
    scores = CellScore.objects.filter(cell__experiment=experiment)
    scores.filter(state=CellScore.State.WAITING).delete()
    gradings = scores.filter(state=CellScore.State.RUNNING, run__status__in=LIVE).select_related("run")
    own = experiment.solving_cells.filter(state=SolvingState.RUNNING, taken_over=False, run__status__in=LIVE)
    cells = own.select_related("run")
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
    # A run that has finished meanwhile counts: the conductor settles its cell.
    finished = failed.filter(run__status=RunStatus.FINISHED, run__is_assisted=False)
    count = finished.update(state=SolvingState.RUNNING, trouble="", ended_at=None)
    ended = (RunStatus.NEEDS_FORK, RunStatus.CANCELLED, RunStatus.FINISHED)
    failed.filter(Q(taken_over=True) | Q(run__status__in=ended)).update(run=None, taken_over=False, attempt=F("attempt") + 1)
    count += failed.update(state=SolvingState.WAITING, trouble="", ended_at=None)
    scores = CellScore.objects.filter(cell__experiment=experiment, state=CellScore.State.FAILED)
    cleared: dict[str, Any] = {"run": None, "points": None, "scale": None, "unscored": "", "trouble": "", "ended_at": None}
    return count + scores.update(state=CellScore.State.WAITING, attempt=F("attempt") + 1, **cleared)
