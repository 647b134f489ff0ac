"""Records an imported run as a finished run, with the usual journal, events and projections and the times of the file."""

import uuid
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.explorations.importing.batches import Batch, Facts
from apps.explorations.importing.imported_run import ImportedRun, LogWrong, fill_times
from apps.explorations.starting.plans import problem_text
from apps.lemmas.later.checking import later_checks_ask
from apps.problems.access import problem_visible_to
from apps.problems.drafts import ProblemDraft
from apps.problems.models import Problem, ProblemVersion, Topic
from apps.problems.services import problem_create
from apps.reasoning.domain.events import RunFinished
from apps.reasoning.domain.generation import Sampling
from apps.reasoning.domain.import_events import ImportSource
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.graph.statements import normalise_statement
from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec
from apps.runs.access import run_visible_to
from apps.runs.journal.batch import Item
from apps.runs.journal.run_journal import JournalWriter, RunJournal
from apps.runs.models import IMPORTED, Run, RunStatus
from apps.runs.owners.execution import event_sinks
from apps.runs.services import run_create

ORIGIN = "imported run"
_AT_ONCE = 2000
_MOMENT = timedelta(milliseconds=1)
_NAMESPACE = uuid.UUID("6f0e7c0e-6d0b-4f0c-9d5b-6a8f6a3f0b7c")


@dataclass(frozen=True)
class Imported:
    """An imported run; `is_new` is false if the same bytes were imported before."""

    run: Run
    is_new: bool


def batch_import(*, batch: Batch, user: User | None, facts: Facts | None = None, problem: Problem | None = None) -> Imported:
    """Read the files and record them as a finished run, atomically. The same bytes give the same run again.

    A user who may not see that run gets a new one; without a `user` all runs and problems are visible.

    `facts` override known facts about the file; `problem` is its problem in the library. Raises `LogWrong`.
    """
    start_id, known = _imported_before(batch, user)
    if known is not None:
        return Imported(known, is_new=False)
    imported = batch.read()
    merged = _merged(facts or Facts(), batch.facts)
    try:
        with transaction.atomic():
            version = _version(imported, merged, batch, problem, user)
            return Imported(_record(imported, merged, batch, version, user, start_id), is_new=True)
    except IntegrityError:
        # Another request imported the same file at the same time.
        _, known = _imported_before(batch, user)
        if known is None:
            raise
        return Imported(known, is_new=False)


def _imported_before(batch: Batch, user: User | None) -> tuple[uuid.UUID, Run | None]:
    """The start id of these bytes, and the existing run with it or None."""
    start_id = uuid.uuid5(_NAMESPACE, batch.sha256)
    known = Run.objects.filter(start_id=start_id).first()
    if known is None or user is None or run_visible_to(user).filter(pk=known.pk).exists():
        return start_id, known
    own = uuid.uuid5(start_id, str(user.pk))
    return own, Run.objects.filter(start_id=own).first()


def _merged(chosen: Facts, known: Facts) -> Facts:
    given = {name: value for name, value in vars(chosen).items() if value}
    return replace(known, **given)


def _record(
    imported: ImportedRun, facts: Facts, batch: Batch, version: ProblemVersion, user: User | None, start_id: uuid.UUID
) -> Run:
    imported.close()
    source = ImportSource(
        format=imported.format,
        file=batch.name,
        sha256=batch.sha256,
        source=facts.source,
        licence=facts.licence,
        times=imported.times,
    )
    outcome = imported.outcome
    imported.add(
        RunFinished.kind,
        RunFinished(accepted=outcome.accepted, proof=outcome.proof, reason=outcome.reason, ended_by=outcome.ended_by),
    )
    fill_times(imported.events, timezone.now())
    began, ended = imported.events[0].at or timezone.now(), imported.events[-1].at or timezone.now()
    run = run_create(
        owner=user,
        problem_version=version,
        title=version.problem.title,
        spec=_spec(imported, version),
        start=False,
        start_id=start_id,
        at=began - 2 * _MOMENT,
    )
    writer = JournalWriter(sinks=event_sinks(), own_thread=False)
    journal = RunJournal(run, writer)
    items = [Item(journal, [("import/source", source)], at=began - _MOMENT)]
    items += [Item(journal, [(one.key, one.event)], one.record, one.texts, at=one.at) for one in imported.events]
    for start in range(0, len(items), _AT_ONCE):
        writer.write_now(items[start : start + _AT_ONCE])
    seconds = (ended - began).total_seconds() if source.times != "order only" else 0.0
    _close(run, outcome, began, ended, seconds)
    later_checks_ask(run)
    return run


def _spec(imported: ImportedRun, version: ProblemVersion) -> RunSpec:
    # The sampling is unknown and never used: an imported run makes no calls.
    roles = {role: RoleSpec(alias=model, sampling=Sampling()) for role, model in imported.roles.items()}
    return RunSpec(
        problem=problem_text(version), scaffold=imported.scaffold, preset=IMPORTED, params=imported.params, roles=roles
    )


def _close(run: Run, outcome: Outcome, began: datetime, ended: datetime, seconds: float) -> None:
    """Set the final state of an imported run, which has no owner."""
    final: dict[str, Any] = {
        "status": RunStatus.FINISHED,
        "status_reason": outcome.reason,
        "outcome": outcome.model_dump(mode="json"),
        "started_at": began,
        "finished_at": ended,
        "active_seconds": seconds,
    }
    Run.objects.filter(pk=run.pk).update(**final)
    run.refresh_from_db()


def _version(imported: ImportedRun, facts: Facts, batch: Batch, problem: Problem | None, user: User | None) -> ProblemVersion:
    """The version of `problem`, else one with the imported statement that `user` may read, else a new one."""
    normal = normalise_statement(imported.statement)
    versions = ProblemVersion.objects.select_related("problem").order_by("pk")
    if user is not None:
        versions = versions.filter(problem__in=problem_visible_to(user))
    for version in problem.versions.order_by("-number") if problem else versions:
        if version.statement == imported.statement or normalise_statement(version.statement) == normal:
            return version
    if problem is not None:
        return problem.current
    if facts.topic not in Topic.values:
        raise LogWrong(
            f"{batch.name} was not imported: its problem is new to the library and has no topic. "
            f"Choose one ({', '.join(f'{value} {label.lower()}' for value, label in Topic.choices)}), or choose its problem."
        )
    draft = ProblemDraft(
        title=(facts.problem or batch.files[0].name.rpartition("/")[2].rpartition(".")[0] or "Imported")[:200],
        topic=facts.topic,
        statement=imported.statement,
        source=facts.of,
        origin=ORIGIN,
    )
    try:
        return problem_create(draft=draft, by=user).current
    except ValidationError as error:
        raise LogWrong(f"{batch.name} was not imported: its problem is invalid: {' '.join(error.messages)}") from error
