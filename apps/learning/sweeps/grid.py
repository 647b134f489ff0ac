"""The grid of a sweep: one job for each combination of values, checked like any job before anything starts."""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from apps.accounts.models import User
from apps.learning.jobs.bases import Base, base_of
from apps.learning.jobs.configs import form_of
from apps.learning.jobs.forms import JobForm
from apps.learning.jobs.jobs import Draft, job_create
from apps.learning.models import TITLE_LENGTH, JobState, Sweep, TrainingJob
from apps.learning.sweeps.settings import LAST_RATE, MAY_BE_OFF, RATE, SEED, form_with, in_force, label, shown

MOST_RUNS = 64
#: Reasons named for combinations that are refused.
MOST_REASONS = 3


@dataclass(frozen=True)
class Cell:
    """One combination of values: its draft, or the job that has run or will run with it."""

    values: Mapping[str, Any]
    draft: Draft
    job: TrainingJob | None = None

    @property
    def label(self) -> str:
        """Settings and values in one line."""
        return label(self.values)

    @property
    def written(self) -> list[str]:
        """Values in the order of their settings."""
        return [shown(value) for value in self.values.values()]


@dataclass(frozen=True)
class Grid:
    """All combinations in the order of their jobs. `follows`: the last learning rate varies with the first."""

    names: Sequence[str]
    cells: Sequence[Cell]
    follows: bool = False

    @property
    def new(self) -> list[Cell]:
        """Combinations without a job."""
        return [cell for cell in self.cells if cell.job is None]


def grid_of(template: TrainingJob, values: Mapping[str, Sequence[Any]], *, user: User, sweep: Sweep | None = None) -> Grid:
    """Grid of the values by setting, for jobs like `template`.

    Raises `ValidationError` if nothing new would run, there are too many jobs, or a combination is refused.
    """
    count = 1
    for given in values.values():
        count *= len(given)
    if count > MOST_RUNS:
        raise ValidationError(f"This grid has {count:,} jobs. A sweep has at most {MOST_RUNS}.")
    base = _base_of(template)
    config = in_force(template.config)
    _check_off(values)
    follows = RATE in values and LAST_RATE not in values and config[RATE] == config[LAST_RATE]
    known = {_key(job.config): job for job in _known(template, sweep)}
    form, fields = JobForm({}, user=user, base=base), form_of(template, base)
    cells, refused = [], []
    for chosen in _combinations(values):
        changed = chosen | ({LAST_RATE: chosen[RATE]} if follows else {})
        form.data = form_with(fields, changed)
        form.full_clean()
        if form.errors:
            refused.append(f"{label(chosen)}: {_first(form)}")
            continue
        draft = form.draft()
        cells.append(Cell(chosen, draft, known.get(_key(draft.config))))
    if refused:
        more = len(refused) - MOST_REASONS
        raise ValidationError([*refused[:MOST_REASONS], *([f"{more} more are refused."] if more > 0 else [])])
    _check_equal(cells)
    found = Grid(list(values), cells, follows)
    _check_new(found, sweep)
    return found


def _check_off(values: Mapping[str, Sequence[Any]]) -> None:
    """Reject “off” where it would mean the recipe's value."""
    for name, given in values.items():
        if None in given and name not in MAY_BE_OFF:
            raise ValidationError(f"{name} cannot be off. Only limits can: {', '.join(MAY_BE_OFF)}.")


def _check_equal(cells: Sequence[Cell]) -> None:
    known: dict[str, Cell] = {}
    for cell in cells:
        same = known.setdefault(_key(cell.draft.config), cell)
        if same is not cell:
            raise ValidationError(f"{same.label} and {cell.label} are the same job. Leave one of them out.")


def _check_new(grid: Grid, sweep: Sweep | None) -> None:
    if len(grid.cells) < 2 and sweep is None:
        raise ValidationError("Give at least two values of one setting: one job is not a sweep.")
    if not grid.new:
        raise ValidationError("All of these combinations have a job. Add other values.")
    total = len(grid.new) + (sweep.jobs.count() if sweep else 0)
    if total > MOST_RUNS:
        raise ValidationError(f"The sweep would have {total} jobs. A sweep has at most {MOST_RUNS}.")


def _combinations(values: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """All combinations; each seed has all of its jobs before the next one, so that the first ones compare everything."""
    order = sorted(values, key=lambda name: name != SEED)
    for chosen in product(*(values[name] for name in order)):
        found = dict(zip(order, chosen, strict=True))
        yield {name: found[name] for name in values}


def _known(template: TrainingJob, sweep: Sweep | None) -> Iterable[TrainingJob]:
    """Jobs that count as runs of the sweep: its own, or the template if it has run or will run."""
    if sweep is not None:
        return sweep.jobs.order_by("pk")
    is_usable = template.sweep_id is None and (template.is_live or template.state == JobState.FINISHED)
    return [template] if is_usable else []


def _key(config: Mapping[str, Any]) -> str:
    """What must be equal for two jobs to be the same run: all settings, the source and the base."""
    return json.dumps([in_force(config), config["source"], config["base"]], sort_keys=True)


def _base_of(template: TrainingJob) -> Base:
    found = base_of(template)
    if found is None:
        raise ValidationError(f"{template.base_title} does not exist any more, so no job can start from it.")
    return found


def _first(form: JobForm) -> str:
    """First error of a form, with its field."""
    name, errors = next(iter(form.errors.items()))
    return f"{form.fields[name].label or name.replace('_', ' ')}: {errors[0]}" if name in form.fields else str(errors[0])


def sweep_start(
    *, owner: User, title: str, template: TrainingJob, grid: Grid, start_id: uuid.UUID | None, sweep: Sweep | None = None
) -> Sweep:
    """Create the jobs of a grid that have none, in a new sweep or as more jobs of `sweep`.

    A form submitted twice creates one sweep, and each of its jobs once.
    """
    with transaction.atomic():
        sweep = sweep or _sweep_create(title=title, owner=owner, names=list(grid.names), start_id=start_id)
        mine = [cell.job.pk for cell in grid.cells if cell.job is not None]
        TrainingJob.objects.filter(pk__in=mine, sweep=None).update(sweep=sweep)
        for cell in grid.new:
            draft = replace(cell.draft, title=_title(sweep.title, cell.label))
            once = uuid.uuid5(sweep.public_id, _key(draft.config))
            job_create(owner=owner, draft=draft, sweep=sweep, start_id=once)
    return sweep


def _sweep_create(*, start_id: uuid.UUID | None, **values: Any) -> Sweep:
    try:
        with transaction.atomic():
            return Sweep.objects.create(start_id=start_id, **values)
    except IntegrityError:
        return Sweep.objects.get(start_id=start_id)


def _title(sweep: str, values: str) -> str:
    """Title of a job: that of its sweep, cut where its values need the space."""
    return f"{sweep[: max(20, TITLE_LENGTH - len(values) - 2)]}: {values}"[:TITLE_LENGTH]


def devices() -> int:
    """Number of jobs that are trained at a time."""
    return max(1, len(settings.TRAIN_DEVICES))
