"""Comparisons of a trained model with its parent: on a toy in the trainer's environment, or on problems by ordinary runs."""

import json
import logging
import shlex
import subprocess
import uuid
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.graders.planning.plans import PlanWrong
from apps.learning.jobs.folders import DRIVER_LOCK, checkpoint_folder, locked
from apps.learning.jobs.jobs import nudge
from apps.learning.jobs.trainers import TrainerMissing, environment, python
from apps.learning.models import Comparison, ComparisonState, TrainedModel, training_folder
from apps.learning.presets import TOYS
from apps.learning.trained.paired import Paired, paired
from apps.learning.trained.taught import problems_learned
from apps.preparation.quality import difficulty_spec
from apps.preparation.runs import problem_run_start
from apps.problems.models import Problem
from apps.reasoning.domain.grading_events import DifficultyFound
from apps.reasoning.inference.aliases import load_aliases
from apps.reasoning.story.vocabulary import event_from
from apps.runs.models import LIVE, Run

logger = logging.getLogger(__name__)
#: Time limit of a comparison on a toy, in seconds.
WITHIN_S = 1800.0
#: Name of each toy's score of an item.
MEASURE = "solved"


class NotComparable(Exception):
    """The comparison cannot be made; the message says what to change."""


class Interrupted(Exception):
    """The player was killed because its machine or its worker is stopping."""


def toy_compare(*, model: TrainedModel, toy: str, items: int, seed: int, user: User, start_id: uuid.UUID | None) -> Comparison:
    """Queue a comparison on a toy. Raises `NotComparable`."""
    if toy not in TOYS:
        raise NotComparable(f"There is no toy {toy}.")
    made = _create(
        model=model, toy=toy, plan={"items": items, "seed": seed}, measure=MEASURE, started_by=user, start_id=start_id
    )
    transaction.on_commit(nudge)
    return made


def problems_compare(
    *,
    model: TrainedModel,
    problems: Sequence[Problem],
    grader: str,
    attempts: int,
    workflow: str,
    seed: int,
    user: User,
    start_id: uuid.UUID | None,
) -> Comparison:
    """Start two runs per problem that differ only in the model. Raises `NotComparable` before any run starts."""
    known = load_aliases(settings.MODELS_FILE)
    parent = _parent_alias(model, known)
    if grader not in known:
        raise NotComparable(f"There is no grading model {grader}. Choose another.")
    specs = []
    for problem in problems:
        pair = []
        for solver in (parent, model.name):
            try:
                spec = difficulty_spec(problem, {"solver": known[solver], "grader": known[grader]}, attempts, workflow)
            except PlanWrong as wrong:
                raise NotComparable(f"{problem.title}: {wrong}") from wrong
            pair.append(spec.model_copy(update={"seed": seed}))
        specs.append((problem, pair))
    plan: dict[str, Any] = {"grader": grader, "attempts": attempts, "workflow": workflow, "seed": seed}
    plan |= {"learned_from": [problem.title for problem in problems_learned(model, problems)]}
    with transaction.atomic():
        measure = f"mean points over {attempts} attempts"
        values = {"plan": plan, "measure": measure, "started_by": user, "start_id": start_id}
        made = _create(model=model, state=ComparisonState.RUNNING, **values)
        if not made.runs:
            runs = [
                (problem, [problem_run_start(user=user, problem=problem, spec=spec) for spec in pair])
                for problem, pair in specs
            ]
            made.runs = [[problem.title, *(str(run.public_id) for run in pair)] for problem, pair in runs]
            made.save(update_fields=["runs"])
    return made


def _parent_alias(model: TrainedModel, known: Collection[str]) -> str:
    """Alias of the parent: the engine's own model, or the registered checkpoint that the job started from.

    Raises `NotComparable` where no engine serves the model, or its parent is an unregistered checkpoint.
    """
    if model.name not in known or not model.like:
        raise NotComparable("No engine serves this model. Compare it on a toy.")
    if not isinstance(model.parent, str) or not Path(model.parent).is_relative_to(training_folder().resolve()):
        return model.like
    for other in TrainedModel.objects.exclude(pk=model.pk).select_related("job"):
        places = (checkpoint_folder(other.job.folder, other.step), other.folder)
        if other.name in known and model.parent in [str(place.resolve()) for place in places]:
            return other.name
    raise NotComparable(
        f"Its parent, {model.parent_title}, is a checkpoint that no engine serves. Register the parent, or compare on a toy."
    )


def _create(**values: Any) -> Comparison:
    try:
        with transaction.atomic():
            return Comparison.objects.create(**values)
    except IntegrityError:
        return Comparison.objects.get(start_id=values["start_id"])


def toys_wait() -> bool:
    """Whether a comparison on a toy waits for a worker."""
    return any(_is_free(one) for one in _toys_open())


def _toys_open() -> list[Comparison]:
    live = (ComparisonState.QUEUED, ComparisonState.RUNNING)
    return list(Comparison.objects.exclude(toy="").filter(state__in=live).select_related("model", "model__job").order_by("pk"))


def _is_free(one: Comparison) -> bool:
    with locked(one.folder / DRIVER_LOCK) as free:
        return free is not None


def toy_play_one() -> bool:
    """Play one waiting or abandoned comparison from its start; False where there is none."""
    for one in _toys_open():
        with locked(one.folder / DRIVER_LOCK) as mine:
            if mine is None:
                continue
            one.refresh_from_db()
            if not one.is_live:
                continue
            Comparison.objects.filter(pk=one.pk).update(state=ComparisonState.RUNNING)
            _play(one)
            return True
    return False


def _play(one: Comparison) -> None:
    try:
        _write_spec(one)
        log = _run_player(one)
        found = json.loads((one.folder / "results.json").read_text(encoding="utf-8"))["items"]
        items = [[f"item {number}", pair["parent"][MEASURE], pair["child"][MEASURE]] for number, pair in enumerate(found, 1)]
    except Interrupted:
        Comparison.objects.filter(pk=one.pk).update(state=ComparisonState.QUEUED)
    except (TrainerMissing, NotComparable) as error:
        _end(one, ComparisonState.FAILED, message=str(error))
    except (OSError, ValueError, KeyError, TypeError) as error:
        _end(one, ComparisonState.FAILED, message=f"The results of the comparison cannot be read ({error}). Start it again.")
    else:
        logger.info("comparison %s of %s: done %s", one.public_id, one.model.name, log[-1:] or "")
        _end(one, ComparisonState.DONE, items=items)


def _write_spec(one: Comparison) -> None:
    job = one.model.job
    parent: Any = one.model.parent
    if isinstance(parent, dict):
        parent = {**parent, "seed": job.config.get("seed", 0)}
    options = job.config.get("source", {}).get("options", {}) if job.toy == one.toy else {}
    spec = {"toy": one.toy, "options": options, "parent": parent, "child": str(one.model.folder), "threads": 1, **one.plan}
    one.folder.mkdir(parents=True, exist_ok=True)
    (one.folder / "results.json").unlink(missing_ok=True)
    (one.folder / "compare.json").write_text(json.dumps(spec), encoding="utf-8")


def player_command(spec: Path) -> list[str]:
    """Command line that plays a comparison. Raises `TrainerMissing`."""
    return [*shlex.split(str(python())), "-m", "workers.training.toy_score", "--spec", str(spec)]


def _run_player(one: Comparison) -> list[str]:
    """Run the player and return its log lines.

    Raises `NotComparable` with the last line, `Interrupted`, `TrainerMissing`, OSError.
    """
    try:
        done = subprocess.run(  # noqa: S603  (the command comes from the settings)
            player_command(one.folder / "compare.json"),
            cwd=settings.BASE_DIR,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise NotComparable(f"Stopped at the limit of {WITHIN_S / 60:.0f} minutes. Compare fewer items.") from late
    if done.returncode < 0:
        raise Interrupted
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    if done.returncode != 0:
        raise NotComparable(lines[-1][:500] if lines else f"The player ended with status {done.returncode}.")
    return lines


def runs_settle(one: Comparison) -> None:
    """Store the scores of a comparison on problems once all its runs have ended."""
    if one.state != ComparisonState.RUNNING or one.toy:
        return
    ids = [run for _, *pair in one.runs for run in pair]
    runs = {str(run.public_id): run for run in Run.objects.filter(public_id__in=ids)}
    if any(run.status in LIVE for run in runs.values()):
        return
    items = [[title, *(_points(runs.get(run)) for run in pair)] for title, *pair in one.runs]
    _end(one, ComparisonState.DONE, items=items)


def _points(run: Run | None) -> float | None:
    """Mean points of a run; None where it ended without any."""
    found = run.events.filter(kind=DifficultyFound.kind).order_by("-seq").first() if run else None
    if found is None:
        return None
    event = event_from(found.kind, found.body)
    return event.mean if isinstance(event, DifficultyFound) else None


def _end(one: Comparison, state: ComparisonState, *, message: str = "", items: Sequence[Any] = ()) -> None:
    live = (ComparisonState.QUEUED, ComparisonState.RUNNING)
    values = {"state": state, "message": message, "items": list(items), "ended_at": timezone.now()}
    Comparison.objects.filter(pk=one.pk, state__in=live).update(**values)
    one.refresh_from_db()


def result_of(one: Comparison) -> Paired | None:
    """Means and difference of a comparison; None before its end, or where no problem has two scores."""
    return paired([(str(title), parent, child) for title, parent, child in one.items]) if one.items else None
