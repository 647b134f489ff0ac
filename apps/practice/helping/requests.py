"""Requests for remarks of a model: who may ask, how often a day, and the orchestrator's part that asks the model.

A remark of a model is unchecked. It is never a mark, and no coach's queue waits for it.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestKind, Paper
from apps.contests.practice import person_of
from apps.practice.helping.rules import HelpRefused, help_refusal, rules_of
from apps.practice.models import ModelUse, Remark, RemarkOrigin, RemarkRequest, RequestState
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.feedback.ladder import Track
from apps.reasoning.hints.material import HintMaterial, Secret
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.remarks.agreement import NoRemark, RemarkWritten, Silence
from apps.reasoning.remarks.writer import RemarkFailed, RemarkWriter
from apps.reasoning.texts.segmentation import segment
from apps.results.proposing import models_for_hints
from apps.runs.calls.outside import WRITTEN_AT_MOST, WRITTEN_PART, DispatcherFor, over_broker
from apps.runs.calls.sending import stop_calls
from apps.submissions.models import SubmissionVersion

logger = logging.getLogger(__name__)
AT_ONCE = 4
#: The most calls of one request: votes, their second readings, and the words.
CALLS_PLANNED = 8
REFERENCE_AT_MOST = 30
NOTHING = "The model found no step to question. That does not prove that the text is right."
DISAGREES = "The model’s own readings disagree, so it says nothing. Ask a coach."
UNREAD = "The model’s answers could not be read, so it says nothing. Ask a coach."
REVEALS = "Everything that the model wrote reveals too much of a solution, so it is not shown. Ask a coach."
ENOUGH = "That was enough from a model for today. Sleep on it, or ask a coach: they read it with you."
FAILED = "The model did not answer. You can ask again, or ask a coach."
SILENT = {
    Silence.NOTHING: NOTHING,
    Silence.DISAGREE: DISAGREES,
    Silence.UNREAD: UNREAD,
    Silence.UNWORDED: UNREAD,
    Silence.REVEALS: REVEALS,
}

ModelsKnown = Callable[[], dict[str, Alias]]


@dataclass
class _Job:
    """A request claimed by this process, with what the model needs."""

    row: RemarkRequest
    run: str
    alias: Alias
    material: HintMaterial
    secret: Secret
    person: User | None
    found: RemarkWritten | NoRemark | None = None
    calls: int = 0
    tokens: int = 0


def calls_today(paper: Paper) -> int:
    """Model calls of this author today, with those that waiting requests may need. Erasing a practice does not reset it."""
    row = ModelUse.objects.filter(person=person_of(paper), day=timezone.localdate()).first()
    return row.calls if row is not None else 0


def _reserve(version: SubmissionVersion) -> None:
    """Count the planned calls of a request for its author. Raises `HelpRefused` above the limit of a day."""
    person = person_of(version.submission.paper)
    if person is None:
        raise HelpRefused("Sign in with an account to ask a model.")
    use, _ = ModelUse.objects.get_or_create(person=person, day=timezone.localdate())
    allowed = settings.PRACTICE_CALLS_A_DAY - CALLS_PLANNED
    if not ModelUse.objects.filter(pk=use.pk, calls__lte=allowed).update(calls=F("calls") + CALLS_PLANNED):
        raise HelpRefused(ENOUGH)


def request_refusal(version: SubmissionVersion) -> str:
    """Why no model can be asked about a version; empty if one can."""
    problem = version.submission.problem
    if refusal := help_refusal(problem):
        return refusal
    if not rules_of(problem.contest).model:
        return (
            "No model is set up for remarks."
            if problem.contest.kind == ContestKind.PRACTICE
            else "This sheet forbids model calls."
        )
    if version.withdrawn_at is not None:
        return "This version was withdrawn."
    if not version.source.strip():
        return "A model reads typed text only. Type your proof, or ask a coach."
    if version.submission.versions.filter(number__gt=version.number, withdrawn_at=None).exists():
        return "There is a newer version. Ask about the newest one."
    if calls_today(version.submission.paper) + CALLS_PLANNED > settings.PRACTICE_CALLS_A_DAY:
        return ENOUGH
    return ""


@transaction.atomic
def remark_request(*, version: SubmissionVersion) -> RemarkRequest:
    """Ask the model about a version, or ask again after a failure. Raises `HelpRefused`; a repeat returns the request."""
    SubmissionVersion.objects.select_for_update().get(pk=version.pk)
    known = RemarkRequest.objects.filter(version=version).first()
    if known is not None and known.state != RequestState.FAILED:
        return known
    if refusal := request_refusal(version):
        raise HelpRefused(refusal)
    _reserve(version)
    alias = rules_of(version.submission.problem.contest).model
    if known is None:
        return RemarkRequest.objects.create(version=version, alias=alias)
    known.alias, known.state, known.reason, known.started_at = alias, RequestState.QUEUED, "", None
    known.asked_at = timezone.now()
    known.save()
    return known


def requests_work(dispatcher_for: DispatcherFor = over_broker, models: ModelsKnown = models_for_hints) -> int:
    """Answer waiting requests, a few at a time; returns how many were claimed."""
    taken = 0
    while jobs := [job for row in list(_waiting()[:AT_ONCE]) if (job := _claimed(row, models)) is not None]:
        asyncio.run(_ask_all(jobs, dispatcher_for))
        for job in jobs:
            _stored(job)
        taken += len(jobs)
    return taken


def _lost() -> Q:
    """Requests started so long ago that their process must have died."""
    return Q(state=RequestState.RUNNING, started_at__lt=timezone.now() - timedelta(seconds=2 * settings.HINT_WITHIN_S))


def _waiting() -> QuerySet[RemarkRequest]:
    rows = RemarkRequest.objects.filter(Q(state=RequestState.QUEUED) | _lost())
    shown = ("version__submission__problem__contest", "version__submission__problem__version")
    return rows.select_related(*shown).order_by("asked_at")


def _claimed(row: RemarkRequest, models: ModelsKnown) -> _Job | None:
    """Claim a request for this process; None if another was faster or the model is not known."""
    mine = RemarkRequest.objects.filter(Q(state=RequestState.QUEUED) | _lost(), pk=row.pk)
    if not mine.update(state=RequestState.RUNNING, started_at=timezone.now()):
        return None
    if refusal := help_refusal(row.version.submission.problem):
        _ended(row, RequestState.FAILED, refusal)
        return None
    try:
        alias = models()[row.alias]
    except (AliasError, KeyError):
        _ended(row, RequestState.FAILED, f"models.toml has no model {row.alias}, or it is turned off.")
        return None
    person = person_of(row.version.submission.paper)
    return _Job(row, f"remark-{uuid.uuid4()}", alias, *_material(row.version), person)


def _material(version: SubmissionVersion) -> tuple[HintMaterial, Secret]:
    problem = version.submission.problem
    solutions = [one.text for one in problem.problem.reference_solutions.all()]
    steps = tuple(version.source[step.start : step.end] for step in version.steps.all())
    first = solutions[0] if solutions else ""
    reference = tuple(first[one.start : one.end] for one in segment(first)[:REFERENCE_AT_MOST])
    known = (problem.version.statement, *(one.source for one in version.submission.versions.all()))
    secret = Secret(solutions=tuple(solutions), answer=problem.version.answer, known=known)
    return HintMaterial(problem=problem.version.statement, track=Track.REPAIR, steps=steps, reference=reference), secret


async def _ask_all(jobs: Sequence[_Job], dispatcher_for: DispatcherFor) -> None:
    await asyncio.gather(*(_ask(job, dispatcher_for) for job in jobs))


async def _ask(job: _Job, dispatcher_for: DispatcherFor) -> None:
    within, alias = settings.HINT_WITHIN_S, job.alias
    tokens = min(int(alias.context_tokens * WRITTEN_PART), WRITTEN_AT_MOST)
    writer: RemarkWriter | None = None
    try:
        async with asyncio.timeout(within), dispatcher_for(job.run, [alias]) as dispatcher:
            writer = RemarkWriter(dispatcher, job.run, alias.name, tokens, within, closing=alias.closes_by)
            writer.context_tokens, writer.structured = alias.context_tokens, alias.prompts == "small"
            job.found = await writer.write(job.material, job.secret)
    except RemarkFailed as error:
        logger.warning("no remark by %s: %s", alias.name, error)
    except TimeoutError:
        logger.warning("no remark by %s within %g s", alias.name, within)
        await asyncio.to_thread(stop_calls, job.run)
    except Exception:  # One failed request must not stop the others.
        logger.exception("the remark of %s", alias.name)
    if writer is not None:
        job.calls, job.tokens = writer.calls, writer.spent


@transaction.atomic
def _stored(job: _Job) -> None:
    """Store what came of a request. Of a practice that was erased meanwhile only the calls are counted."""
    used = {"calls": job.calls, "tokens": job.tokens}
    if not RemarkRequest.objects.select_for_update().filter(pk=job.row.pk).exists():
        _counted(job.row, job.person, job.calls)
        return
    if job.found is None:
        _ended(job.row, RequestState.FAILED, FAILED, **used)
        return
    votes = [vote.model_dump(mode="json") for vote in job.found.votes]
    if isinstance(job.found, NoRemark):
        _ended(job.row, RequestState.SILENT, SILENT[job.found.reason], votes=votes, **used)
        return
    Remark.objects.create(
        version=job.row.version,
        origin=RemarkOrigin.MODEL,
        step=job.found.step,
        kind=job.found.kind,
        pointer=job.found.question,
        words=job.found.reason,
        stage=1,
        alias=job.row.alias,
    )
    _ended(job.row, RequestState.DONE, "", votes=votes, **used)


def _ended(row: RemarkRequest, state: RequestState, reason: str, **values: Any) -> None:
    """End a request once, and count the calls that it really made."""
    _counted(row, person_of(row.version.submission.paper), values.get("calls", 0))
    RemarkRequest.objects.filter(pk=row.pk).update(state=state, reason=reason[:500], done_at=timezone.now(), **values)


def _counted(row: RemarkRequest, person: User | None, calls: int) -> None:
    """Replace the planned calls of a request by those that it made."""
    days = ModelUse.objects.filter(person=person, day=timezone.localdate(row.asked_at))
    days.update(calls=F("calls") + calls - CALLS_PLANNED)
