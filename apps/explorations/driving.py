"""Driving a run from the command line: over the queue where the stack is up, else in this process."""

import contextlib
import os
import threading
from collections.abc import AsyncIterator, Iterable

from django.conf import settings
from django.db import connections
from redis.exceptions import RedisError

from apps.explorations.worked_example import script
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias, ScriptedOptions, load_aliases
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.openai_http import OpenAIHttpBackend
from apps.reasoning.inference.scripted import Pace, ScriptedBackend
from apps.reasoning.ports import Backend, Dispatcher
from apps.reasoning.scaffolds.spec import RunSpec
from apps.runs.execution import event_sinks, run_drive
from apps.runs.journal import JournalWriter, RunJournal
from apps.runs.models import Run
from apps.runs.streams import sync_client


def is_stack_up() -> bool:
    """Does the broker answer? Then orchestrator and inference workers are, or soon will be, there."""
    try:
        return bool(sync_client().ping())
    except (RedisError, OSError):
        return False


def local_backend(alias: Alias) -> Backend:
    """A backend that needs no worker. Raises `AliasError` for engines that live in the inference worker."""
    if alias.backend == "openai_http":
        return OpenAIHttpBackend(alias, api_key=os.environ.get(alias.api_key_env, "") if alias.api_key_env else "")
    if isinstance(alias.options, ScriptedOptions) and alias.options.script == "worked_example":
        return ScriptedBackend(script(), pace=Pace(chunk_tokens=0))
    raise AliasError(
        f"{alias.name} runs inside the inference worker ({alias.backend}). Start the stack with `make up`, then try again."
    )


@contextlib.asynccontextmanager
async def local_dispatcher(run: Run, journal: RunJournal) -> AsyncIterator[Dispatcher]:
    """Calls go to backends of this process."""
    aliases = load_aliases(settings.MODELS_FILE)
    names = {role.alias for role in RunSpec.model_validate(run.spec).roles.values()}
    backends = {name: local_backend(aliases[name]) for name in sorted(names)}
    try:
        yield LocalDispatcher(backends, concurrency={name: aliases[name].concurrency for name in names})
    finally:
        for backend in backends.values():
            await backend.close()


def check_local(aliases: Iterable[Alias]) -> None:
    """Raises `AliasError` where this process cannot play one of the aliases."""
    for alias in aliases:
        if alias.backend == "openvino":
            local_backend(alias)


def drive_in_thread(run: Run) -> threading.Thread:
    """Drive the run in a thread of this process. Killing the process loses no finished call; `make up` goes on with it."""
    writer = JournalWriter(sinks=event_sinks())

    def drive() -> None:
        try:
            run_drive(run.pk, dispatcher_for=local_dispatcher, writer=writer)
        finally:
            connections.close_all()

    thread = threading.Thread(target=drive, name=f"run-{run.public_id}", daemon=True)
    thread.start()
    return thread
