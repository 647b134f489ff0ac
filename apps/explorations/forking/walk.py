"""The course of a recorded run, phase by phase: its own program is replayed from the journal, without any new call.

A phase begins at a control point. So the walk finds the same points, in the same order, as the run and its forks.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.reasoning.domain.control import Command
from apps.reasoning.domain.errors import BudgetExhausted, NeedsFork, ReasoningError, RunHalted
from apps.reasoning.domain.events import Event, LemmaProposed
from apps.reasoning.domain.generation import Final, GenerationRequest
from apps.reasoning.domain.records import Spent, StepRecord
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.spec import RunSpec
from apps.runs.journal.records import LoadedRecords
from apps.runs.models import Run

_HINT = Command(id="walk", name="hint", by="", args={"text": "?"})


@dataclass
class Phase:
    """The part of a run that follows one control point.

    `calls` are keys of recorded calls, `lemmas` the lemmas proposed, `keys` the keys of its events. `reads_hints`: a hint
    takes effect at its point.
    """

    point: str
    reads_hints: bool = False
    calls: list[str] = field(default_factory=list)
    lemmas: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)


@dataclass
class Walk:
    """The phases of a run in order. `trouble` is why the replay cannot follow the records, or ""."""

    phases: list[Phase] = field(default_factory=list)
    trouble: str = ""

    def of_call(self, key: str) -> int | None:
        """The index of the phase that made the call."""
        return next((at for at, phase in enumerate(self.phases) if key in phase.calls), None)

    def of_lemma(self, lemma: str) -> int | None:
        """The index of the phase that proposed the lemma."""
        return next((at for at, phase in enumerate(self.phases) if lemma in phase.lemmas), None)

    def of_event(self, key: str) -> int | None:
        """The index of the phase that emitted the event with this key."""
        return next((at for at, phase in enumerate(self.phases) if key in phase.keys), None)


def walk(run: Run) -> Walk:
    """Replay the recorded part of `run`. Call it in a thread without an event loop."""
    spec = RunSpec.model_validate(run.spec)
    found = Walk()
    journal = _Records(LoadedRecords(run), found)
    context = _Walker(spec, journal, _NoDispatcher(), NoControls(), run=str(run.public_id))
    context.found = found
    scaffold = SCAFFOLDS[spec.scaffold]
    try:
        asyncio.run(_followed(scaffold.solve(spec.problem, context, scaffold.read_params(spec.params))))
    except NeedsFork:
        found.trouble = "The code or the prompts have changed since this run."
    except (ReasoningError, BudgetExhausted, RunHalted):
        pass
    _add_rest(run, found)
    return found


def _add_rest(run: Run, found: Walk) -> None:
    """Count the recorded calls of an interrupted phase that the walk did not reach, because another one is missing."""
    walked = {key for phase in found.phases for key in phase.calls}
    if found.phases:
        keys = run.steps.filter(kind="call").order_by("pk").values_list("key", flat=True)
        found.phases[-1].calls += [key for key in keys if key not in walked]


async def _followed(program: Any) -> None:
    await program


class _Walker(RunContext):
    found: Walk

    async def control(self, point: str, refuse: Callable[[Command], str | None] | None = None) -> Sequence[Command]:
        self.found.phases.append(Phase(point, reads_hints=refuse is not None and refuse(_HINT) == ""))
        return await super().control(point, refuse)


class _Records:
    """The `Journal` of a walk: reads records and notes the phase in which each is read. Nothing can be added."""

    def __init__(self, loaded: LoadedRecords, found: Walk) -> None:
        self._loaded = loaded
        self._found = found

    def recorded(self, key: str) -> StepRecord | None:
        record = self._loaded.take(key)
        if record is not None and record.kind == "call" and self._found.phases:
            self._found.phases[-1].calls.append(key)
        return record

    @property
    def unread(self) -> int:
        return len(self._loaded)

    @property
    def spent(self) -> Spent:
        return Spent()

    async def append(self, record: StepRecord, events: Sequence[tuple[str, Event]] = (), texts: Sequence[str] = ()) -> None:
        raise RunHalted("The walk has reached the end of the records.")

    def emit(self, key: str, event: Event) -> None:
        if self._found.phases:
            phase = self._found.phases[-1]
            phase.keys.add(key)
            if isinstance(event, LemmaProposed):
                phase.lemmas.append(event.lemma)

    async def flush(self) -> None:
        return None


class _NoDispatcher:
    async def dispatch(self, request: GenerationRequest) -> Final:
        raise RunHalted("The walk has reached the end of the records.")
