"""Writes to experiments: make one, pause, resume, cancel, try failed cells again. Each is one transaction."""

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
from apps.grading import conductor
from apps.grading.cells import SHOWN, prepares_pieces
from apps.grading.experiment_scripts import Chosen
from apps.grading.held import statements_held
from apps.grading.models import CellState, Experiment, ExperimentCell, ExperimentState, GradedScript
from apps.grading.naming import VARIANTS, Players, graders_of, variant_of
from apps.grading.pieces import digest_of
from apps.grading.plans import PlanWrong
from apps.grading.shown import ViewShown, shown_of, shown_read
from apps.runs.models import LIVE, RunStatus
from apps.runs.services import command_request

CELLS_AT_MOST = 50_000
_BATCH = 500
_NAMED = 100
FEWER = " Take fewer scripts, graders or repeats."


class ExperimentRefused(Exception):
    """This cannot be done now; the message says why."""


@dataclass(frozen=True)
class ExperimentDraft:
    """What somebody asked for. `params` as `Experiment.params`.

    Every variant of `workflows` is asked with every alias in all its roles, and with `team` where it has roles that this
    names; "" of it plays the others.
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
        """The seed of each repeat; None for the only one, which has that of the experiment."""
        return tuple(self.params.get("seeds") or (None,))

    @property
    def graders(self) -> list[tuple[str, str]]:
        """Variants with their players. Raises `PlanWrong`."""
        alone = graders_of(self.workflows, [{"": alias} for alias in self.aliases])
        in_team = [name for name in self.workflows if any(role.name in self.team for role in variant_of(name).grader.roles)]
        return list(dict.fromkeys([*alone, *graders_of(in_team, [self.team])]))


@transaction.atomic
def experiment_create(*, owner: User, draft: ExperimentDraft, start_id: uuid.UUID | None = None) -> Experiment:
    """Make it with all its cells, and let it run. A form that is sent twice makes one.

    Raises `ExperimentRefused` where there is nothing to grade, far too much, or what is held back from the owner.
    """
    known = Experiment.objects.filter(start_id=start_id).first() if start_id else None
    if known is not None:
        if known.owner_id != owner.pk:
            raise ExperimentRefused("This form was sent before. Load the page again.")
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
    transaction.on_commit(conductor.wake)
    return experiment


def views_of_experiment(experiment: Experiment) -> dict[str, tuple[ViewShown, ...]]:
    """By variant what its graders are shown; of one made before there were views, what graders were shown then."""
    kept = experiment.params.get(SHOWN)
    if kept is None:
        known = [name for name in experiment.workflows if name in VARIANTS]
        return {name: (shown_of(VARIANTS[name].grader.name, {}),) for name in known}
    return {name: (shown,) for name, text in kept.items() if (shown := shown_read(text))}


def _require_fit(owner: User, draft: ExperimentDraft, each: int) -> None:
    """`each`: gradings of one script."""
    scripts = draft.chosen.scripts()
    count = len(scripts) * each
    if not count:
        raise ExperimentRefused("Nothing is chosen: no script fits, or no grader or model is named.")
    if count > CELLS_AT_MOST:
        raise ExperimentRefused(f"This would be {count:,} gradings; an experiment has at most {CELLS_AT_MOST:,}.{FEWER}")
    held = set(statements_held(owner).values_list("statement", flat=True))
    keys = [one.script_pk for one in scripts if one.script_pk is not None and one.statement in held]
    if keys:
        names = (
            GradedScript.objects.filter(pk__in=keys[:_NAMED]).order_by("problem_name").values_list("problem_name", flat=True)
        )
        said = ", ".join(names.distinct())
        raise ExperimentRefused(f"The solutions of {said} are held back from you for now. Choose the other problems.")


def _cells(experiment: Experiment, draft: ExperimentDraft, graders: Sequence[tuple[str, str]]) -> list[ExperimentCell]:
    """The cells in the order in which they are begun: those that prepare pieces for others first, then problem by problem.

    What models are given about a problem stands before the script in their prompts: engines keep it from one to the next.
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
    """Begin nothing more; what is under way ends. Pausing twice changes nothing. Raises `ExperimentRefused`."""
    _change(experiment, ExperimentState.RUNNING, ExperimentState.PAUSED, "Only a running experiment can be paused.")


@transaction.atomic
def experiment_resume(*, experiment: Experiment) -> None:
    """Go on. Raises `ExperimentRefused`."""
    _change(experiment, ExperimentState.PAUSED, ExperimentState.RUNNING, "Only a paused experiment can be resumed.")


@transaction.atomic
def experiment_cancel(*, experiment: Experiment, user: User) -> None:
    """End it: nothing more is begun, what is under way is stopped, what is done is kept. Raises `ExperimentRefused`."""
    locked = Experiment.objects.select_for_update().get(pk=experiment.pk)
    if locked.state == ExperimentState.CANCELLED:
        return
    if not locked.is_live:
        raise ExperimentRefused("The experiment is over.")
    now = timezone.now()
    ended = {"state": ExperimentState.CANCELLED, "state_reason": "", "ended_at": now}
    Experiment.objects.filter(pk=locked.pk).update(**ended)
    locked.cells.filter(state=CellState.WAITING).update(state=CellState.CANCELLED, ended_at=now)
    for cell in locked.cells.filter(state=CellState.RUNNING, run__status__in=LIVE).select_related("run"):
        if cell.run is not None:
            _stop(cell, user)


def _stop(cell: ExperimentCell, user: User) -> None:
    """Ask the run to end; one that has ended meanwhile is left as it is."""
    if cell.run is None:
        return
    try:
        command_request(run=cell.run, user=user, command_id=uuid.uuid5(cell.public_id, f"{cell.attempt}"), name="cancel")
    except ValidationError:
        if cell.run.status in LIVE:
            raise


@transaction.atomic
def experiment_retry(*, experiment: Experiment) -> int:
    """Let what failed wait again; how many cells that are. Recorded calls of theirs are not made again.

    Raises `ExperimentRefused` for one that was cancelled.
    """
    locked = Experiment.objects.select_for_update().get(pk=experiment.pk)
    if locked.state == ExperimentState.CANCELLED:
        raise ExperimentRefused("The experiment was cancelled; make another one.")
    failed = locked.cells.filter(state=CellState.FAILED)
    failed.filter(run__status__in=(RunStatus.NEEDS_FORK, RunStatus.CANCELLED, RunStatus.FINISHED)).update(
        run=None, attempt=F("attempt") + 1
    )
    count = failed.update(state=CellState.WAITING, trouble="", ended_at=None)
    if count:
        again = {"state": ExperimentState.RUNNING, "state_reason": "", "begun_at": timezone.now(), "ended_at": None}
        Experiment.objects.filter(pk=locked.pk).update(**again)
        transaction.on_commit(conductor.wake)
    return count


def _change(experiment: Experiment, source: ExperimentState, target: ExperimentState, refusal: str) -> None:
    values: dict[str, Any] = {"state": target, "state_reason": ""}
    if target == ExperimentState.RUNNING:
        values["begun_at"] = timezone.now()
    if not Experiment.objects.filter(pk=experiment.pk, state=source).update(**values):
        if Experiment.objects.filter(pk=experiment.pk, state=target).exists():
            return
        raise ExperimentRefused(refusal)
    transaction.on_commit(conductor.wake)
