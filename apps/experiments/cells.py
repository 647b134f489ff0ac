"""One cell of an experiment: prepare its grading, start it as a run, and store the result."""

import functools
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from apps.experiments.conductor import CONDUCTOR
from apps.experiments.models import CellState, Experiment, ExperimentCell
from apps.graded_sets.models import GradedScript
from apps.graded_sets.shapes import WITHOUT_TEXTS
from apps.graders.batches.jobs import Job, jobs_of_versions, material_of, text_of
from apps.graders.held_back import OpenScripts, script_require, statements_held
from apps.graders.option_forms import options_for
from apps.graders.pieces import pieces_known
from apps.graders.planning.naming import VARIANTS, aliases_in, plan_named, variant_of
from apps.graders.planning.plans import EMPTY, GradingPlan, PlanWrong
from apps.graders.planning.settings import settings_key
from apps.graders.planning.spending import spending_of_run
from apps.problems.models import ProblemVersion
from apps.reasoning.domain.events import RunCancelled, RunFailed, RunFinished
from apps.reasoning.domain.grading_events import GradingReached
from apps.reasoning.domain.spending import OFFLINE
from apps.reasoning.graders.grader import FINAL
from apps.reasoning.graders.grading import Grading
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.scaffolds.spec import RunSpec
from apps.runs.journal.batch import NumberedEvent
from apps.runs.models import BATCHED, Run, Step
from apps.runs.services import run_create, run_requeue

#: Key of `Experiment.params` with the view of each variant.
SHOWN = "shown"
NO_RESULT = "The run ended without a grading."
TITLE_LENGTH = 200


class ScriptEmpty(PlanWrong):
    """The script is empty: no grader runs, and it is unscored. `settings`: as for a graded cell."""

    def __init__(self, name: str, settings: str = "") -> None:
        super().__init__(f"{name}: the script is {EMPTY}.")
        self.settings = settings


class CellBatch:
    """Cache of database reads for cells of one experiment that are started in one transaction."""

    def __init__(self, experiment: Experiment, aliases: Mapping[str, Alias]) -> None:
        self.experiment = experiment
        self.aliases = aliases
        self.plan = functools.cache(functools.partial(plan_of, experiment, aliases=aliases))
        self.pieces = functools.cache(self._pieces)
        self.open_scripts = OpenScripts(experiment.owner)
        self._material: dict[int, dict[str, Any]] = {}

    @functools.cached_property
    def held(self) -> frozenset[str]:
        """Statements of problems whose solutions the owner may not read."""
        return frozenset(statements_held(self.experiment.owner).values_list("statement", flat=True))

    def material(self, stated: ProblemVersion) -> dict[str, Any]:
        """The material of a problem for graders."""
        if stated.pk not in self._material:
            self._material[stated.pk] = material_of(stated)
        return self._material[stated.pk]

    def _pieces(self, statement: str, workflow: str, players: str) -> Mapping[str, Any]:
        return pieces_known(statement, self.plan(workflow, players).roles) if prepares_pieces(workflow) else {}


def job_of_script(script: GradedScript, material: Callable[[ProblemVersion], dict[str, Any]] = material_of) -> Job:
    """A script of a set with the material of its problem. Raises `PlanWrong` if there is nothing to grade."""
    if script.problem is None:
        raise PlanWrong(f"{script.name}: the set has no statement for {script.problem_name}.")
    if not script.text.strip() and script.graded_set.shape in WITHOUT_TEXTS:
        raise PlanWrong(f"{script.name}: its text was not published with its points.")
    return Job(script.name, text_of(script.problem), {**material(script.problem), "script": script.text})


def plan_of(experiment: Experiment, workflow: str, players: str, aliases: Mapping[str, Alias]) -> GradingPlan:
    """The grading plan for all cells with a variant and its players. Raises `PlanWrong`."""
    params, variant = experiment.params, variant_of(workflow)
    return plan_named(
        variant,
        players,
        aliases,
        # An experiment from before views keeps its original view.
        overrides=options_for(variant.grader.name, params.get("overrides", {})) | ({} if SHOWN in params else {"view": None}),
        max_new_tokens=params.get("max_new_tokens"),
        temperature=params.get("temperature"),
        seed=params.get("seed", 0),
    )


def prepares_pieces(workflow: str) -> bool:
    """Whether the grading of a problem's first script prepares pieces for the others."""
    return not OFFLINE.isdisjoint(role.name for role in VARIANTS[workflow].grader.roles)


def cell_start(cell: ExperimentCell, batch: CellBatch) -> None:
    """Queue the run of a cell, or end the cell with the reason if it cannot be graded. Call it in a transaction.

    A failed run is resumed, so that recorded calls are not repeated. Repeated calls still create one run per attempt.
    """
    if cell.run is not None and run_requeue(cell.run):
        ExperimentCell.objects.filter(pk=cell.pk).update(state=CellState.RUNNING, trouble="", ended_at=None)
        return
    try:
        with transaction.atomic():
            run, settings = _run_of(cell, batch)
    except PlanWrong as error:
        ended: dict[str, Any] = {"state": CellState.FAILED, "trouble": str(error), "ended_at": timezone.now()}
        if isinstance(error, ScriptEmpty):
            ended |= {"state": CellState.UNSCORED, "trouble": "", "unscored": EMPTY, "settings": error.settings}
        ExperimentCell.objects.filter(pk=cell.pk).update(**ended)
        transaction.on_commit(CONDUCTOR.wake)
        return
    begun = {"state": CellState.RUNNING, "run": run, "settings": settings, "trouble": "", "ended_at": None}
    ExperimentCell.objects.filter(pk=cell.pk).update(**begun)


def _run_of(cell: ExperimentCell, batch: CellBatch) -> tuple[Run, str]:
    """Create the run; return it with the key of its settings."""
    experiment = batch.experiment
    spec, stated, settings = cell_spec(cell, batch)
    run = run_create(
        owner=experiment.owner,
        problem_version=stated,
        title=f"{experiment.title}: {cell_name(cell)}"[:TITLE_LENGTH],
        spec=spec.model_copy(update={"preset": BATCHED}),
        start_id=uuid.uuid5(experiment.public_id, f"{cell.public_id}/{cell.attempt}"),
    )
    return run, settings


def cell_spec(cell: ExperimentCell, batch: CellBatch) -> tuple[RunSpec, ProblemVersion, str]:
    """What is asked for a cell, with its problem and the key of its settings. Raises `PlanWrong` and `ScriptEmpty`."""
    if gone := sorted(aliases_in(cell.alias) - set(batch.aliases)):
        raise PlanWrong(
            f"Model {', '.join(gone)} is no longer in models.toml. Add it again, or start an experiment without it."
        )
    job, stated = _job_of(cell, batch)
    plan = batch.plan(cell.workflow, cell.alias)
    if cell.seed is not None:
        plan = replace(plan, seed=cell.seed)
    is_empty = cell.script is not None and not cell.script.text.strip()
    asked = replace(job, material=job.material | {"script": EMPTY}) if is_empty else job
    try:
        spec = plan.spec(asked, batch.pieces(stated.statement, cell.workflow, cell.alias))
    except PlanWrong:
        if is_empty:  # As in `manage.py grade`: an empty script is unscored, whatever else is missing.
            raise ScriptEmpty(job.paper) from None
        raise
    roles = {name: role.model_dump(mode="json") for name, role in spec.roles.items()}
    settings = settings_key(spec.scaffold, spec.params, roles, spec.prompt_hashes)
    if is_empty:
        raise ScriptEmpty(job.paper, settings)
    return spec, stated, settings


def cell_name(cell: ExperimentCell) -> str:
    """The name of a cell's script; in a contest the anonymous paper number."""
    if cell.script is not None:
        return cell.script.name
    if cell.version is None:
        raise ValueError("a cell has a script or a version")
    return cell.version.submission.paper.number


def _job_of(cell: ExperimentCell, batch: CellBatch) -> tuple[Job, ProblemVersion]:
    if cell.script is not None:
        script_require(cell.script, batch.held, batch.open_scripts)
        job = job_of_script(cell.script, batch.material)
        if cell.script.problem is None:
            raise PlanWrong(job.paper)
        return job, cell.script.problem
    if cell.version is None:
        raise ValueError("a cell has a script or a version")
    return jobs_of_versions([cell.version])[0], cell.version.submission.problem.version


def follow(run: Run, events: Sequence[NumberedEvent]) -> None:
    """Store the result of a cell's run in the transaction that records its events, then wake the conductor."""
    if run.preset != BATCHED:
        return
    for _, _, _, event in events:
        if isinstance(event, GradingReached) and event.name == FINAL:
            _keep(run, Grading.model_validate(event.grading))
        elif isinstance(event, RunFinished):
            _finished(run)
        elif isinstance(event, RunFailed | RunCancelled):
            state = CellState.FAILED if isinstance(event, RunFailed) else CellState.CANCELLED
            _end(run, state=state, trouble=event.reason)


def _keep(run: Run, grading: Grading) -> None:
    """Store a grading. One without an answer is a failure and not a result of the grader."""
    ExperimentCell.objects.filter(run_id=run.pk).update(
        points=grading.points,
        scale=grading.scale,
        unscored="" if grading.failure else grading.unscored,
        trouble=grading.failure,
        findings=len(grading.findings),
        suspicious=len(grading.suspicious),
    )


def _finished(run: Run) -> None:
    cell = ExperimentCell.objects.filter(run_id=run.pk).only("points", "unscored", "trouble").first()
    if cell is None:
        return
    if cell.points is None and not cell.unscored:
        _end(run, state=CellState.FAILED, trouble=cell.trouble or NO_RESULT)
    else:
        _end(run, state=CellState.UNSCORED if cell.points is None else CellState.SCORED, trouble="")


def _end(run: Run, *, state: CellState, trouble: str) -> None:
    spent = spending_of_run(run.pk)
    seconds = Step.objects.filter(run_id=run.pk, kind="call").aggregate(took=Sum("duration_s"))["took"]
    ExperimentCell.objects.filter(run_id=run.pk).update(
        state=state,
        trouble=trouble,
        calls=spent.total.calls,
        tokens=spent.total.tokens,
        prepared_calls=spent.prepared.calls,
        prepared_tokens=spent.prepared.tokens,
        seconds=seconds or 0.0,
        ended_at=timezone.now(),
    )
    transaction.on_commit(CONDUCTOR.wake)
