"""The worked example through the real scaffold, with everything in memory: what a disturbed run must come to as well."""

import asyncio
from typing import Any

from apps.explorations.services import worked_example_spec
from apps.explorations.worked_example import script
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls


def play() -> dict[str, tuple[str, Any]]:
    """Event keys with kind and body."""
    spec = worked_example_spec()
    journal = InMemoryJournal()
    scaffold = SCAFFOLDS[spec.scaffold]

    async def solve() -> None:
        dispatcher = LocalDispatcher({"worked-example": ScriptedBackend(script())})
        context = RunContext(spec, journal, dispatcher, NoControls())
        await scaffold.solve(spec.problem, context, scaffold.read_params(spec.params))

    asyncio.run(solve())
    return {key: (event.kind, event.model_dump(mode="json")) for _, key, event in journal.events}
