"""Writes of datasets: start the build of a version in a separate process."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied, ValidationError

from apps.accounts.models import User
from apps.datasets.access import may_make_datasets
from apps.datasets.models import DatasetBuild
from apps.datasets.rewards import JUDGES
from apps.datasets.versions.choosing import runs_to_choose
from apps.datasets.versions.making import Report, making_folder
from apps.recipes.options import Option, without_effect
from apps.recipes.recipe import Training
from apps.recipes.registry import TRAININGS
from apps.runs.models import Run

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}\Z")
NAME_RULE = "Use at most 60 lower-case letters, digits and hyphens; start with a letter or digit."
BEAT_S = 5.0
_started: "list[subprocess.Popen[bytes]]" = []


def build_start(
    *,
    user: User | None,
    name: str,
    recipe: str,
    runs: Sequence[Run],
    options: Mapping[str, Any] | None = None,
    start: bool = True,
) -> DatasetBuild:
    """Start a version of `name` from `runs` (user None: a terminal). With `start` false the caller makes it.

    Raises `ValidationError` (keys are the form's fields), `PermissionDenied`.
    """
    if user is not None and not may_make_datasets(user):
        raise PermissionDenied("Only researchers may make datasets.")
    if not NAME.match(name):
        raise ValidationError({"name": NAME_RULE})
    if recipe not in TRAININGS:
        raise ValidationError({"recipe": f"Unknown recipe {recipe}. Valid recipes: {', '.join(TRAININGS)}."})
    if not runs:
        raise ValidationError({"runs": "Choose at least one run."})
    allowed = {run.pk for run in runs_to_choose(user)} if user is not None else {run.pk for run in runs}
    if any(run.pk not in allowed for run in runs):
        raise ValidationError({"runs": "You may not use one of these runs. Choose runs from the list."})
    build = DatasetBuild.objects.create(
        name=name,
        recipe=recipe,
        options=options_read(TRAININGS[recipe], options or {}),
        runs=[str(run.public_id) for run in runs],
        started_by=user,
    )
    if start:
        _spawn(build)
    return build


def options_read(recipe: Training, given: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a recipe, with defaults. Raises `ValidationError` naming the wrong option."""
    found: dict[str, Any] = {"judge": given.get("judge") or "verifiers"}
    if found["judge"] not in dict(JUDGES):
        raise ValidationError({"judge": f"Choose a source of rewards: {' or '.join(name for name, _ in JUDGES)}."})
    for option in recipe.options:
        value = given.get(option.name)
        if value in (None, ""):
            value = option.default
        if option.choices and value not in option.choices:
            raise ValidationError({option.name: f"{option.label} must be one of {', '.join(option.choices)}."})
        if not option.choices and value is not None:
            value = _number(option, value)
        found[option.name] = value
    if (unused := without_effect(found)) is not None:
        raise ValidationError({unused[0]: unused[1]})
    if found.get("margin", 0) > found.get("longest", 0):
        raise ValidationError({"margin": "The margin is the last part of the longest turn and cannot exceed it."})
    if unknown := sorted(set(given) - set(found)):
        known = ", ".join(found)
        raise ValidationError({"recipe": f"{recipe.title} has no option {unknown[0]}. Valid options: {known}."})
    return found


def _number(option: Option, value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = -1.0
    if not 0 <= found <= option.most or (option.is_whole and found % 1):
        kind = "a whole number" if option.is_whole else "a number"
        raise ValidationError({option.name: f"{option.label} must be {kind} from 0 to {option.most:,.0f}."})
    return int(found) if option.is_whole else found


def _spawn(build: DatasetBuild) -> None:
    """Run `manage.py make_dataset` in its own session, so that it survives the end of this process."""
    folder = making_folder(build)
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "make_dataset", str(build.public_id)]
    with (folder.parent / f"{build.public_id}.log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603
            command, cwd=settings.BASE_DIR, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    _started[:] = [one for one in _started if one.poll() is None] + [process]
    DatasetBuild.objects.filter(pk=build.pk).update(pid=process.pid)


@contextmanager
def progress_file(build: DatasetBuild) -> Iterator[Report]:
    """Keep `<build>.json` next to the build's folder, yield the callback that updates it, and delete it at the end.

    It is rewritten every second as a heartbeat for the page.
    """
    path = progress_path(build)
    path.parent.mkdir(parents=True, exist_ok=True)
    state: dict[str, Any] = {"what": "starting", "done": 0, "of": 0}
    ended = threading.Event()

    def report(what: str, done: int, of: int) -> None:
        state.update(what=what, done=done, of=of)

    def beat() -> None:
        while True:
            temporary = path.with_suffix(".partial")
            temporary.write_text(json.dumps(state))
            temporary.replace(path)
            if ended.wait(BEAT_S / 5):
                return

    thread = threading.Thread(target=beat, name="progress", daemon=True)
    thread.start()
    try:
        yield report
    finally:
        ended.set()
        thread.join()
        path.unlink(missing_ok=True)


def progress_path(build: DatasetBuild) -> Path:
    """File with the progress of a build."""
    return making_folder(build).with_suffix(".json")
