"""Comparisons of a trained model with its parent: their start and end, and those on a toy in the trainer's environment."""

import json
import logging
import shlex
import subprocess
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.learning.jobs.folders import DRIVER_LOCK, locked
from apps.learning.jobs.jobs import nudge
from apps.learning.jobs.trainers import TrainerMissing, environment, python
from apps.learning.models import Comparison, ComparisonState, TrainedModel
from apps.learning.presets import TOYS
from apps.learning.trained.card import card_write

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
    made = comparison_create(
        model=model, toy=toy, plan={"items": items, "seed": seed}, measure=MEASURE, started_by=user, start_id=start_id
    )
    transaction.on_commit(nudge)
    return made


def comparison_create(**values: Any) -> Comparison:
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
        comparison_end(one, ComparisonState.FAILED, message=str(error))
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"The results of the comparison cannot be read ({error}). Start it again."
        comparison_end(one, ComparisonState.FAILED, message=message)
    else:
        logger.info("comparison %s of %s: done %s", one.public_id, one.model.name, log[-1:] or "")
        comparison_end(one, ComparisonState.DONE, items=items)


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


def comparison_end(one: Comparison, state: ComparisonState, *, message: str = "", items: Sequence[Any] = ()) -> None:
    """End a comparison that is under way, with the reason or with its scores."""
    live = (ComparisonState.QUEUED, ComparisonState.RUNNING)
    values = {"state": state, "message": message, "items": list(items), "ended_at": timezone.now()}
    Comparison.objects.filter(pk=one.pk, state__in=live).update(**values)
    one.refresh_from_db()
    if state == ComparisonState.DONE:
        with suppress(OSError):  # The card is written again with the decision.
            card_write(one.model)
