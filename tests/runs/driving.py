"""Driving a run inside the test process: the real execution and journal, a scripted model, no broker."""

import contextlib
from collections.abc import AsyncIterator

from apps.reasoning.domain.generation import Sampling
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.ports import Dispatcher
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.spec import Budget, RoleSpec
from apps.runs.journal.run_journal import JournalWriter, RunJournal
from apps.runs.models import Run, RunStatus
from apps.runs.owners.execution import DispatcherFor, event_sinks, run_drive
from tests.runs.factory import make_run

SCAFFOLD = SCAFFOLDS["intern_s1_mo"]


def quick_run(budget: Budget | None = None) -> Run:
    """A queued quick run of Intern-S1-MO whose roles are all scripted: four calls with a model that writes nonsense."""
    return make_run(
        preset="quick",
        params=SCAFFOLD.presets["quick"].params.model_dump(mode="json"),
        roles={role.name: RoleSpec(alias="scripted", sampling=Sampling()) for role in SCAFFOLD.roles},
        prompt_hashes=SCAFFOLD.prompts,
        budget=budget or Budget(),
    )


def with_model(backend: ScriptedBackend, name: str = "scripted") -> DispatcherFor:
    """A dispatcher factory for `run_drive`: every call of the alias `name` goes to `backend` in this process."""

    @contextlib.asynccontextmanager
    async def dispatcher(run: Run, journal: RunJournal) -> AsyncIterator[Dispatcher]:
        yield LocalDispatcher({name: backend})

    return dispatcher


def nonsense(count: list[str] | None = None) -> ScriptedBackend:
    """A model that follows no format; the keys of its calls are added to `count`."""

    def answer(request: object) -> str:
        if count is not None:
            count.append(request.key)  # type: ignore[attr-defined]
        return "I like turtles."

    return ScriptedBackend(answer)


def drive(run: Run, dispatcher_for: DispatcherFor) -> RunStatus | None:
    """Drive the run to its end with a writer of its own."""
    writer = JournalWriter(sinks=event_sinks())
    try:
        return run_drive(run.pk, dispatcher_for=dispatcher_for, writer=writer)
    finally:
        writer.close()
