"""Delivers commands of people to a running program: pause and cancel act at once, others at a control point."""

import asyncio
import logging
import time
from collections.abc import Sequence

from django.conf import settings
from django.db.utils import DatabaseError

from apps.processes import metrics
from apps.processes.threads import in_thread
from apps.reasoning.domain.control import Command, ControlApplied, ControlRequested
from apps.reasoning.domain.errors import FenceLost, RunCancelled
from apps.reasoning.domain.events import RunContinued, RunPaused
from apps.reasoning.domain.generation import Final, GenerationRequest
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.ports import Dispatcher
from apps.reasoning.scaffolds.running.window import Window
from apps.runs.journal.run_journal import RunJournal
from apps.runs.models import Run, RunCommand, RunStatus
from apps.runs.owners.leases import lease_conclude
from apps.runs.owners.shares import window_of
from apps.runs.owners.together import PendingCommands, Renewals

logger = logging.getLogger(__name__)
POLL_S = 0.5
PENDING, RENEWALS = PendingCommands(), Renewals()


class DatabaseControls:
    """The `Controls` port: polls the command rows, keeps the lease, holds the gate while paused."""

    def __init__(self, run: Run, journal: RunJournal, *, renew_every_s: float) -> None:
        self._run = run
        self._journal = journal
        self._renew_every_s = renew_every_s
        self._seen: set[str] = set()
        self._commands: list[Command] = []
        self._driven_s = 0.0
        self.window = Window(settings.RUN_WINDOW)
        self._open = asyncio.Event()
        if run.status != RunStatus.PAUSED:
            self._open.set()

    async def take(self) -> Sequence[Command]:
        await self._open.wait()
        commands, self._commands = self._commands, []
        return commands

    async def gate(self) -> None:
        """Wait while the run is paused: no new calls start; running calls may finish."""
        await self._open.wait()

    async def watch(self) -> None:
        """Poll until cancelled. Raises `FenceLost` or `RunCancelled`, which end the program."""
        PENDING.watched.add(self._run.pk)
        try:
            await self._watch()
        finally:
            PENDING.watched.discard(self._run.pk)

    async def _watch(self) -> None:
        renewed_at: float | None = None
        while True:
            try:
                if renewed_at is None:
                    # The lease is new, so only the width of the window is read.
                    self.window.size = await in_thread(window_of, self._run.pk, self._run.owner_id)
                    renewed_at = time.monotonic()
                elif time.monotonic() - renewed_at >= self._renew_every_s:
                    renewed_at = time.monotonic()
                    await self.renew()
                if await PENDING.has(self._run.pk, POLL_S / 2):
                    for row in await in_thread(_pending, self._run.pk):
                        self._receive(row)
            except DatabaseError as error:
                logger.warning("run %s: the database does not respond (%s)", self._run.public_id, error)
            await asyncio.sleep(POLL_S)
            if self._open.is_set():
                self._driven_s += POLL_S

    async def renew(self) -> None:
        """Renew the lease, save the time since the last renewal, and read the width of the window. Raises `FenceLost`."""
        seconds, self._driven_s = self._driven_s, 0.0
        width = await RENEWALS.renew(self._run, seconds)
        if width is None:
            raise FenceLost
        metrics.count("lease_renewals")
        self.window.size = width

    async def conclude(self, outcome: Outcome) -> None:
        """Save the outcome and the time since the last renewal. Raises `FenceLost`."""
        seconds, self._driven_s = self._driven_s, 0.0
        if not await in_thread(lease_conclude, self._run.pk, self._run.fence, outcome.model_dump(mode="json"), seconds):
            raise FenceLost

    def _receive(self, row: RunCommand) -> None:
        command = Command(
            id=str(row.command_id),
            name=row.name,
            by=row.by.username if row.by else "",
            args=row.args,
        )
        if command.id in self._seen:
            return
        self._seen.add(command.id)
        emit = self._journal.emit
        emit(
            f"control.requested/{command.id}",
            ControlRequested(command=command.id, name=command.name, by=command.by, args=command.args),
        )
        if command.name not in {"pause", "resume", "cancel"}:
            self._commands.append(command)
            return
        emit(f"control/{command.id}", ControlApplied(command=command.id, name=command.name, point="now"))
        if command.name == "cancel":
            raise RunCancelled(f"cancelled by {command.by}")
        if command.name == "pause" and self._open.is_set():
            self._open.clear()
            emit(f"run.paused/{command.id}", RunPaused(reason=f"paused by {command.by}"))
        elif command.name == "resume" and not self._open.is_set():
            self._open.set()
            emit(f"run.continued/{command.id}", RunContinued())


class GatedDispatcher:
    """Holds new calls back while the run is paused."""

    def __init__(self, inner: Dispatcher, controls: DatabaseControls) -> None:
        self._inner = inner
        self._controls = controls

    async def dispatch(self, request: GenerationRequest) -> Final:
        await self._controls.gate()
        return await self._inner.dispatch(request)


def _pending(run_pk: int) -> list[RunCommand]:
    return list(RunCommand.objects.filter(run=run_pk, state=RunCommand.State.PENDING).select_related("by"))
