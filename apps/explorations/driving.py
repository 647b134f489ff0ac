"""Drives a run from the command line in this process, when the stack is not running."""

import contextlib
import threading
from collections.abc import AsyncIterator, Iterable

from django.conf import settings
from django.db import connections

from apps.explorations.worked_example import script
from apps.processes.local import http_backend
from apps.processes.local import is_stack_up as is_stack_up
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias, ScriptedOptions, load_aliases
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import Pace, ScriptedBackend
from apps.reasoning.ports import Backend, Dispatcher
from apps.reasoning.scaffolds.spec import RunSpec
from apps.runs.journal.run_journal import JournalWriter, RunJournal
from apps.runs.models import Run
from apps.runs.owners.execution import event_sinks, run_drive


def local_backend(alias: Alias) -> Backend:
    """A backend that needs no worker. Raises `AliasError` for engines that run inside the inference worker."""
    if alias.backend == "openai_http":
        return http_backend(alias)
    if isinstance(alias.options, ScriptedOptions) and alias.options.script == "worked_example":
        return ScriptedBackend(script(), pace=Pace(chunk_tokens=0))
    raise AliasError(
        f"{alias.name} runs inside the inference worker ({alias.backend}). Start the stack with `make up`, then try again."
    )


@contextlib.asynccontextmanager
async def local_dispatcher(run: Run, journal: RunJournal) -> AsyncIterator[Dispatcher]:
    """A dispatcher that sends calls to backends of this process."""
    aliases = load_aliases(settings.MODELS_FILE)
    names = {role.alias for role in RunSpec.model_validate(run.spec).roles.values()}
    backends = {name: local_backend(aliases[name]) for name in sorted(names)}
    try:
        yield LocalDispatcher(backends, concurrency={name: aliases[name].concurrency for name in names})
    finally:
        for backend in backends.values():
            await backend.close()


def check_local(aliases: Iterable[Alias]) -> None:
    """Raise `AliasError` if this process cannot call one of the aliases."""
    for alias in aliases:
        if alias.backend != "openai_http":
            local_backend(alias)


def drive_in_thread(run: Run) -> threading.Thread:
    """Drive the run in a thread of this process. Killing the process loses no finished call; `make up` continues the run."""
    writer = JournalWriter(sinks=event_sinks())

    def drive() -> None:
        try:
            run_drive(run.pk, dispatcher_for=local_dispatcher, writer=writer)
        finally:
            connections.close_all()

    thread = threading.Thread(target=drive, name=f"run-{run.public_id}", daemon=True)
    thread.start()
    return thread
