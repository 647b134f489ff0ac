"""The orchestrator's part in proposed hints: the chosen models write waiting proposals through the workers' queues.

A call without an answer within `HINT_WITHIN_S` fails, and the rung waits for its coach as if no model had been asked.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.reasoning.domain.errors import AliasError
from apps.reasoning.hints.material import HintMaterial, Secret
from apps.reasoning.hints.writer import HintFailed, HintWriter, HintWritten
from apps.reasoning.inference.aliases import Alias, load_usable
from apps.results.hint_material import material_of, secret_of
from apps.results.models import REASON_LENGTH, HintProposal, ProposalState
from apps.runs.calls.outside import WRITTEN_AT_MOST, WRITTEN_PART, DispatcherFor, over_broker
from apps.runs.calls.sending import stop_calls

logger = logging.getLogger(__name__)
AT_ONCE = 4
WRITING_FAILED = "Writing the proposal failed; the server log has the error."
NO_TEXT = "The version has no text that a model could read."

ModelsKnown = Callable[[], dict[str, Alias]]


@dataclass
class _Job:
    """A proposal claimed by this process, with what its writer needs."""

    row: HintProposal
    run: str
    aliases: list[Alias]
    material: HintMaterial
    secret: Secret
    written: HintWritten | None = None
    reason: str = ""
    calls: int = 0
    tokens: int = 0


def models_for_hints() -> dict[str, Alias]:
    """The aliases that may write or test hints. Raises `AliasError`."""
    return load_usable(settings.MODELS_FILE)


def proposals_work(dispatcher_for: DispatcherFor = over_broker, models: ModelsKnown = models_for_hints) -> int:
    """Write waiting proposals, a few at a time; returns how many were claimed."""
    taken = 0
    while jobs := [job for row in list(_waiting()[:AT_ONCE]) if (job := _claimed(row, models)) is not None]:
        asyncio.run(_write_all(jobs, dispatcher_for))
        for job in jobs:
            _stored(job)
        taken += len(jobs)
    return taken


def _waiting() -> QuerySet[HintProposal]:
    """Queued and lost proposals, oldest first."""
    rows = HintProposal.objects.filter(Q(state=ProposalState.QUEUED) | _lost())
    rows = rows.filter(rung__given_at=None, rung__request__ended_at=None)
    return rows.select_related("rung__request__version__submission__problem__contest").order_by("asked_at", "pk")


def _lost() -> Q:
    """Proposals started so long ago that their process must have died."""
    return Q(state=ProposalState.RUNNING, started_at__lt=timezone.now() - timedelta(seconds=2 * settings.HINT_WITHIN_S))


def _claimed(row: HintProposal, models: ModelsKnown) -> _Job | None:
    """Claim a proposal for this process; None if another process was faster or it cannot be written."""
    mine = HintProposal.objects.filter(Q(state=ProposalState.QUEUED) | _lost(), pk=row.pk)
    if not mine.update(state=ProposalState.RUNNING, started_at=timezone.now()):
        return None
    try:
        known = models()
        if missing := [name for name in (row.writer, row.guesser) if name and name not in known]:
            raise HintFailed(f"models.toml has no model {', '.join(missing)}, or it is turned off.")
        aliases = [known[name] for name in dict.fromkeys((row.writer, row.guesser)) if name]
        material = material_of(row.rung)
        if not any(step.strip() for step in material.steps):
            raise HintFailed(NO_TEXT)
        return _Job(row, f"hint-{uuid.uuid4()}", aliases, material, secret_of(row.rung))
    except (AliasError, HintFailed) as error:
        _failed(row, str(error))
    except Exception:
        logger.exception("could not collect the material of a hint")
        _failed(row, WRITING_FAILED)
    return None


async def _write_all(jobs: Sequence[_Job], dispatcher_for: DispatcherFor) -> None:
    await asyncio.gather(*(_write(job, dispatcher_for) for job in jobs))


async def _write(job: _Job, dispatcher_for: DispatcherFor) -> None:
    """Let the models write; stores the hint or the reason for its absence in the job."""
    within = settings.HINT_WITHIN_S
    tokens = {alias.name: min(int(alias.context_tokens * WRITTEN_PART), WRITTEN_AT_MOST) for alias in job.aliases}
    writer: HintWriter | None = None
    try:
        async with asyncio.timeout(within), dispatcher_for(job.run, job.aliases) as dispatcher:
            writer = HintWriter(dispatcher, job.run, job.row.writer, job.row.guesser, tokens, deadline_s=within)
            job.written = await writer.write(job.material, job.secret, job.row.rung.level)
    except HintFailed as error:
        job.reason = str(error)
    except TimeoutError:
        job.reason = f"Nothing came back within {within:g} s. Check that an inference worker serves {job.row.writer}."
        await asyncio.to_thread(stop_calls, job.run)
    except Exception:  # One failed proposal must not stop the others.
        logger.exception("the proposal of a hint by %s", job.row.writer)
        job.reason = WRITING_FAILED
    if writer is not None:
        job.calls, job.tokens = writer.calls, writer.spent


def _stored(job: _Job) -> None:
    """Store the result, unless a coach declined the proposal meanwhile."""
    if job.written is None:
        _failed(job.row, job.reason, calls=job.calls, tokens=job.tokens)
        return
    mine = HintProposal.objects.filter(pk=job.row.pk, state=ProposalState.RUNNING)
    mine.update(
        state=ProposalState.READY,
        text=job.written.text,
        level=job.written.level,
        dropped=[one.model_dump(mode="json") for one in job.written.dropped],
        gain=job.written.gain,
        calls=job.calls,
        tokens=job.tokens,
        done_at=timezone.now(),
    )


def _failed(row: HintProposal, reason: str, *, calls: int = 0, tokens: int = 0) -> None:
    logger.warning("%s proposed no hint: %s", row.writer, reason)
    mine = HintProposal.objects.filter(pk=row.pk, state=ProposalState.RUNNING)
    values = {"reason": reason[:REASON_LENGTH], "calls": calls, "tokens": tokens, "done_at": timezone.now()}
    mine.update(state=ProposalState.FAILED, **values)
