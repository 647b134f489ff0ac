"""Rehearsals in the background: asked for on the page, played by the orchestrator in processes of low priority.

All state is in the database. A rehearsal whose process died is played again from its beginning by the next one.
"""

import time
from collections.abc import Callable
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone

from apps.accounts.models import User
from apps.experiments.models import Experiment
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.solving.manifest import Manifest
from apps.experiments.solving.rehearsal.fitting import fitted, joined, tried
from apps.experiments.solving.rehearsal.predicting import matrix_of, predicted
from apps.experiments.solving.rehearsal.stored import Rehearsal
from apps.experiments.solving.services import items_chosen, manifest_stored
from apps.reasoning.rehearsal.skills import Skills, SkillsWrong, skills_read

#: A rehearsal without a sign for so long has lost its process: one line on one problem takes seconds, fitting a minute.
LOST_AFTER = timedelta(minutes=10)
ATTEMPTS = 3
PROCESSES = 2
BEAT_S = 3.0
STATED = "Numbers that were stated count over all others."
GUESSED = "No skills were fitted: all numbers that are not stated are guessed."


def rehearsal_ask(
    *, experiment: Experiment, user: User, source: str = "guess", fitted_to: Experiment | None = None, stated: str = ""
) -> Rehearsal:
    """Queue a rehearsal. Raises `ExperimentRefused` for wrong skills, too large a matrix, and while another is under way."""
    try:
        skills_read(stated)
    except SkillsWrong as error:
        raise ExperimentRefused(f"The skills cannot be used. {error}") from error
    manifest = manifest_stored(experiment)
    matrix_of(manifest, items_chosen(manifest))
    try:
        with transaction.atomic():
            return Rehearsal.objects.create(experiment=experiment, by=user, source=source, fitted_to=fitted_to, stated=stated)
    except IntegrityError as error:
        raise ExperimentRefused("A rehearsal of this experiment is under way. Wait until it has ended.") from error


def rehearsals_work() -> int:
    """Play waiting and lost rehearsals one by one, and return their number."""
    count = 0
    while (found := _taken()) is not None:
        _play(found)
        count += 1
    return count


def _taken() -> Rehearsal | None:
    """The oldest rehearsal without a process, now taken by this one."""
    now = timezone.now()
    lost = Q(state=Rehearsal.State.RUNNING, beat_at__lt=now - LOST_AFTER)
    for row in Rehearsal.objects.filter(Q(state=Rehearsal.State.WAITING) | lost).order_by("pk"):
        same = Rehearsal.objects.filter(pk=row.pk, state=row.state, attempt=row.attempt)
        if row.attempt >= ATTEMPTS:
            trouble = f"It was begun {ATTEMPTS} times and never ended. See the log, or rehearse fewer problems or repeats."
            same.update(state=Rehearsal.State.FAILED, trouble=trouble, ended_at=now)
        elif same.update(state=Rehearsal.State.RUNNING, attempt=F("attempt") + 1, played=0, beat_at=now):
            row.refresh_from_db()
            return row
    return None


def _play(row: Rehearsal) -> None:
    own = Rehearsal.objects.filter(pk=row.pk, state=Rehearsal.State.RUNNING, attempt=row.attempt)
    manifest = manifest_stored(row.experiment)
    try:
        skills = skills_for(row)
        own.update(skills=skills.model_dump(mode="json"), beat_at=timezone.now())
        found = predicted(manifest, items_chosen(manifest), skills, processes=PROCESSES, progress=_beats(row))
    except (ExperimentRefused, SkillsWrong) as error:
        own.update(state=Rehearsal.State.FAILED, trouble=str(error), ended_at=timezone.now())
        return
    except Exception:  # Also the end of this process. Another one tries again; the watcher logs it.
        own.update(state=Rehearsal.State.WAITING)
        raise
    own.update(state=Rehearsal.State.DONE, result=found.model_dump(mode="json"), ended_at=timezone.now())


def _beats(row: Rehearsal) -> Callable[[int], None]:
    """Record progress every few seconds."""
    last = time.monotonic()

    def beat(played: int) -> None:
        nonlocal last
        if time.monotonic() - last >= BEAT_S:
            last = time.monotonic()
            Rehearsal.objects.filter(pk=row.pk, attempt=row.attempt).update(played=played, beat_at=timezone.now())

    return beat


def skills_for(row: Rehearsal) -> Skills:
    """The skills of a rehearsal. Raises `SkillsWrong`."""
    return skills_from(row.source, row.fitted_to, manifest_stored(row.experiment), row.by, row.stated)


def skills_from(source: str, fitted_to: Experiment | None, manifest: Manifest, user: User | None, stated: str) -> Skills:
    """The skills from a source as in `Rehearsal`, with notes about their origin. Raises `SkillsWrong`."""
    own, found = skills_read(stated), Skills(notes=(GUESSED,))
    if source == "runs" and fitted_to is not None:
        found = joined([tried(manifest, user), fitted(fitted_to)])
    elif source == "trials":
        found = tried(manifest, user)
    return joined([found, own, Skills(notes=(STATED,) if own.parts or own.difficulties else ())])
