"""Write services for experiments: create, pause, resume, cancel, delete, retry failed cells. Each is one transaction."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from apps.accounts.models import User
from apps.experiments.cells import SHOWN, prepares_pieces
from apps.experiments.conductor import CONDUCTOR
from apps.experiments.models import (
    CellScore,
    CellState,
    Experiment,
    ExperimentCell,
    ExperimentKind,
    ExperimentState,
    SolvingState,
)
from apps.experiments.refusals import CELLS_AT_MOST, ExperimentRefused
from apps.experiments.scripts import Chosen
from apps.experiments.solving.services import cells_cancel, cells_retry
from apps.graded_sets.models import GradedScript
from apps.graders.held_back import statements_held
from apps.graders.pieces import digest_of
from apps.graders.planning.naming import VARIANTS, Players, graders_of, variant_of
from apps.graders.planning.plans import PlanWrong
from apps.graders.planning.shown import ViewShown, shown_of, shown_read
from apps.runs.models import LIVE, RunStatus
from apps.runs.services import command_request

_BATCH = 500
_NAMED = 100
FEWER = " Choose fewer scripts, graders or repeats."


@dataclass(frozen=True)
class ExperimentDraft:
    """A requested experiment. `params`: as in `Experiment.params`.

    Every variant of `workflows` runs with every alias in all its roles. It also runs with `team` if it has a role named there;
    the alias under "" plays the others.
    """

    title: str
    chosen: Chosen
    workflows: Sequence[str]
    aliases: Sequence[str] = ()
    at_once: int = 4
    params: dict[str, Any] = field(default_factory=dict)
    team: Players = field(default_factory=dict)

    @property
    def seeds(self) -> tuple[int | None, ...]:
        """The seed of each repeat; (None,) without repeats, for the seed of the experiment."""
        return tuple(self.params.get("seeds") or (None,))

    @property
    def graders(self) -> list[tuple[str, str]]:
        """Variants with their players. Raises `PlanWrong`."""
        alone = graders_of(self.workflows, [{"": alias} for alias in self.aliases])
        in_team = [name for name in self.workflows if any(role.name in self.team for role in variant_of(name).grader.roles)]
        return list(dict.fromkeys([*alone, *graders_of(in_team, [self.team])]))


@transaction.atomic
def experiment_create(*, owner: User, draft: ExperimentDraft, start_id: uuid.UUID | None = None) -> Experiment:
    """Create an experiment with all its cells and start it. A form sent twice creates one experiment.

    Raises `ExperimentRefused` for no scripts, too many gradings, or solutions that are held back from the owner.
    """
    known = Experiment.objects.filter(start_id=start_id).first() if start_id else None
    if known is not None:
        if known.owner_id != owner.pk:
            raise ExperimentRefused("Nothing was started: this form was already sent by another user. Reload the page.")
        return known
    try:
        graders = draft.graders
    except PlanWrong as error:
        raise ExperimentRefused(str(error)) from error
    _require_fit(owner, draft, len(graders) * len(draft.seeds))
    experiment = Experiment.objects.create(
        start_id=start_id,
        title=draft.title,
        owner=owner,
        graded_set=draft.chosen.graded_set,
        contest=draft.chosen.contest,
        chosen=draft.chosen.words,
        workflows=list(dict.fromkeys(workflow for workflow, _ in graders)),
        aliases=list(dict.fromkeys(players for _, players in graders)),
        params=draft.params | {SHOWN: {name: ViewShown(view=variant_of(name).view).text for name, _ in graders}},
        at_once=draft.at_once,
        begun_at=timezone.now(),
    )
    ExperimentCell.objects.bulk_create(_cells(experiment, draft, graders), batch_size=_BATCH)
    transaction.on_commit(CONDUCTOR.wake)
    return experiment


def views_of_experiment(experiment: Experiment) -> dict[str, tuple[ViewShown, ...]]:
    """The views by variant. An older experiment without recorded views has the views of that time."""
    kept = experiment.params.get(SHOWN)
    if kept is None:
        known = [name for name in experiment.workflows if name in VARIANTS]
        return {name: (shown_of(VARIANTS[name].grader.name, {}),) for name in known}
    return {name: (shown,) for name, text in kept.items() if (shown := shown_read(text))}


def _require_fit(owner: User, draft: ExperimentDraft, each: int) -> None:
    """Refuse an experiment of the wrong size or on held-back problems. `each`: gradings per script."""
    scripts = draft.chosen.scripts()
    count = len(scripts) * each
    if not count:
        raise ExperimentRefused("Nothing to grade: choose at least one matching script, one grader and one model.")
    if count > CELLS_AT_MOST:
        raise ExperimentRefused(f"These are {count:,} gradings; an experiment has at most {CELLS_AT_MOST:,}.{FEWER}")
    held = set(statements_held(owner).values_list("statement", flat=True))
    keys = [one.script_pk for one in scripts if one.script_pk is not None and one.statement in held]
    if keys:
        names = (
            GradedScript.objects.filter(pk__in=keys[:_NAMED]).order_by("problem_name").values_list("problem_name", flat=True)
        )
        held_names = ", ".join(names.distinct())
        raise ExperimentRefused(f"The solutions of {held_names} are held back from you for now. Choose other problems.")


def _cells(experiment: Experiment, draft: ExperimentDraft, graders: Sequence[tuple[str, str]]) -> list[ExperimentCell]:
    """The cells in starting order: first those that prepare pieces for others, then problem by problem.

    In prompts the problem precedes the script, so that engines can reuse the cached prefix from one cell to the next.
    """
    seen: set[tuple[str, str, str]] = set()
    first: list[ExperimentCell] = []
    others: list[ExperimentCell] = []
    for one in draft.chosen.scripts():
        problem = digest_of(one.statement) if one.statement else ""
        for (workflow, alias), seed in product(graders, draft.seeds):
            group = (problem, workflow, alias)
            prepares = one.can_be_graded and group not in seen and prepares_pieces(workflow)
            cell = ExperimentCell(
                experiment=experiment,
                script_id=one.script_pk,
                version_id=one.version_pk,
                problem=problem,
                workflow=workflow,
                alias=alias,
                seed=seed,
                prepares=prepares,
            )
            if prepares:
                seen.add(group)
            (first if prepares else others).append(cell)
    order = {problem: number for number, problem in enumerate(dict.fromkeys(one.problem for one in others))}
    cells = [*first, *sorted(others, key=lambda one: order[one.problem])]
    for position, cell in enumerate(cells, 1):
        cell.position = position
    return cells


@transaction.atomic
def experiment_pause(*, experiment: Experiment) -> None:
    """Start no more cells; running ones end. Pausing twice has no effect. Raises `ExperimentRefused`."""
    _change(experiment, ExperimentState.RUNNING, ExperimentState.PAUSED, "Only a running experiment can be paused.")


@transaction.atomic
def experiment_resume(*, experiment: Experiment) -> None:
    """Resume a paused experiment. Raises `ExperimentRefused`."""
    _change(experiment, ExperimentState.PAUSED, ExperimentState.RUNNING, "Only a paused experiment can be resumed.")


@transaction.atomic
def experiment_cancel(*, experiment: Experiment, user: User) -> None:
    """Cancel waiting cells and stop running ones; finished ones are kept. Raises `ExperimentRefused`."""
    locked = Experiment.objects.select_for_update().get(pk=experiment.pk)
    if locked.state == ExperimentState.CANCELLED:
        return
    if locked.state == ExperimentState.PLANNED:
        raise ExperimentRefused("A planned experiment has not begun. Delete it instead.")
    if not locked.is_live:
        raise ExperimentRefused("The experiment has already ended, so there is nothing to cancel.")
    now = timezone.now()
    ended = {"state": ExperimentState.CANCELLED, "state_reason": "", "ended_at": now}
    Experiment.objects.filter(pk=locked.pk).update(**ended)
    if locked.kind == ExperimentKind.SOLVING:
        cells_cancel(locked, user)
        return
    locked.cells.filter(state=CellState.WAITING).update(state=CellState.CANCELLED, ended_at=now)
    for cell in locked.cells.filter(state=CellState.RUNNING, run__status__in=LIVE).select_related("run"):
        if cell.run is not None:
            _stop(cell, user)


def _stop(cell: ExperimentCell, user: User) -> None:
    """Request the run's cancellation; a run that has just ended is left alone."""
    if cell.run is None:
        return
    try:
        command_request(run=cell.run, user=user, command_id=uuid.uuid5(cell.public_id, f"{cell.attempt}"), name="cancel")
    except ValidationError:
        if cell.run.status in LIVE:
            raise


@transaction.atomic
def experiment_delete(experiment: Experiment) -> None:
    """Delete an experiment with its cells, scores, marks and rehearsals. Its runs stay, since other cells may have them.

    Deleting twice has no effect. Raises `ExperimentRefused` while a cell is running.
    """
    locked = Experiment.objects.select_for_update().filter(pk=experiment.pk).first()
    if locked is None:
        return
    running = locked.cells.filter(state=CellState.RUNNING).count()
    running += locked.solving_cells.filter(state=SolvingState.RUNNING).count()
    running += CellScore.objects.filter(cell__experiment=locked, state=CellScore.State.RUNNING).count()
    if running:
        raise ExperimentRefused(
            f"Nothing was deleted: {running:,} cell{' is' if running == 1 else 's are'} running. "
            "Cancel the experiment, and delete it when they have ended."
        )
    locked.delete()


@transaction.atomic
def experiment_retry(*, experiment: Experiment) -> int:
    """Requeue failed cells without repeating their recorded calls; return the number of cells.

    Raises `ExperimentRefused` for a cancelled experiment.
    """
    locked = Experiment.objects.select_for_update().get(pk=experiment.pk)
    if locked.state == ExperimentState.CANCELLED:
        raise ExperimentRefused("A cancelled experiment cannot be continued. Start a new one.")
    count = cells_retry(locked) if locked.kind == ExperimentKind.SOLVING else _retry(locked)
    if count:
        again = {"state": ExperimentState.RUNNING, "state_reason": "", "begun_at": timezone.now(), "ended_at": None}
        Experiment.objects.filter(pk=locked.pk).update(**again)
        transaction.on_commit(CONDUCTOR.wake)
    return count


def _retry(experiment: Experiment) -> int:
    failed = experiment.cells.filter(state=CellState.FAILED)
    failed.filter(run__status__in=(RunStatus.NEEDS_FORK, RunStatus.CANCELLED, RunStatus.FINISHED)).update(
        run=None, attempt=F("attempt") + 1
    )
    return failed.update(state=CellState.WAITING, trouble="", ended_at=None)


def _change(experiment: Experiment, source: ExperimentState, target: ExperimentState, refusal: str) -> None:
    values: dict[str, Any] = {"state": target, "state_reason": ""}
    if target == ExperimentState.RUNNING:
        values["begun_at"] = timezone.now()
    if not Experiment.objects.filter(pk=experiment.pk, state=source).update(**values):
        if Experiment.objects.filter(pk=experiment.pk, state=target).exists():
            return
        raise ExperimentRefused(refusal)
    transaction.on_commit(CONDUCTOR.wake)
