"""The ports of the core: what it needs from outside, as protocols. Fakes of each ship in the package.

`Context` is what a scaffold sees; `Backend` is what generates; `Dispatcher` carries one request to a backend wherever it runs;
`Journal` is the durable record of one run.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from apps.reasoning.domain.control import Command
from apps.reasoning.domain.errors import BudgetKeptBack
from apps.reasoning.domain.events import Event
from apps.reasoning.domain.generation import (
    Delta,
    Ending,
    Final,
    GenerationRequest,
    Health,
    Message,
    OfferedTool,
    Place,
    Sampling,
)
from apps.reasoning.domain.records import Spent, StepRecord
from apps.reasoning.domain.tools import ToolAnswer, ToolJob

BudgetKind = Literal["calls", "tokens", "seconds", "money"]


class Backend(Protocol):
    """Something that generates. All methods are called from one event loop."""

    def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        """Yield deltas as they come and one `Final` last.

        Raises `BackendError`. Closing the iterator, or cancelling the task that reads it, stops the engine's work on it.
        """
        ...

    async def abort(self, call_id: str) -> None:
        """Stop a running call; its stream ends with `finish_reason="cancelled"`. Unknown ids are ignored."""
        ...

    async def health(self) -> Health: ...

    async def close(self) -> None: ...


DeltaSink = Callable[[GenerationRequest, int, Delta], Awaitable[None]]
"""Receives `(request, offset, delta)`; `offset` counts the characters of the same channel already sent."""


class Dispatcher(Protocol):
    """Carries a request to a backend and brings the result back. Raises `BackendError`."""

    async def dispatch(self, request: GenerationRequest) -> Final: ...


class Journal(Protocol):
    """The durable record of one run: calls by structural key, events by seq and key, recorded control points."""

    def recorded(self, key: str) -> StepRecord | None:
        """The record under `key`, or None. Never blocks: records are loaded when the run is opened."""
        ...

    @property
    def unread(self) -> int:
        """Records loaded when the run was opened that `recorded` has not returned yet: above 0 means replaying."""
        ...

    @property
    def spent(self) -> Spent:
        """Calls, tokens and seconds over all records, loaded and appended, since the run was made."""
        ...

    async def append(self, record: StepRecord, events: Sequence[tuple[str, Event]] = (), texts: Sequence[str] = ()) -> None:
        """Commit the record, its events and the prompt texts behind `record.prompt_shas` in one transaction.

        Returns once it is durable.

        Raises `FenceLost` when another owner has taken the run, `JournalUnwritable` when it cannot be kept.
        """
        ...

    def emit(self, key: str, event: Event) -> None:
        """Queue an event after everything queued before. An event whose key was used before is ignored."""
        ...

    async def flush(self) -> None:
        """Return when everything queued so far is durable."""
        ...


class Controls(Protocol):
    """Where people's commands wait for a control point."""

    async def take(self) -> Sequence[Command]:
        """Commands not yet applied, oldest first. Waits while the run is paused; raises `RunCancelled`."""
        ...


@dataclass(frozen=True)
class Ask:
    """What a model call asks. `sampling`: None for the role's.

    `parts`, joined, are the contents of `messages`, joined: the pieces that prompts of a run share (system text, problem,
    library, …), so that each is stored once. Without it every message is one part.
    `tools` may be offered only where `calls_functions(role)`, and an `ending` given where `ends_by_grammar(role)`.
    """

    role: str
    messages: Sequence[Message]
    place: Place
    sampling: Sampling | None = None
    json_schema: dict[str, Any] | None = None
    parts: Sequence[str] | None = None
    tools: Sequence[OfferedTool] = ()
    ending: Ending | None = None


class Context(Protocol):
    """All that a scaffold may use (reasoning notes, opening section)."""

    async def generate(self, key: str, ask: Ask) -> Final:
        """One model call, recorded under `key`; a call with a record is not made again.

        The role's alias, default sampling and seed come from the run's frozen specification.
        Raises `CallFailed` (journaled; the scaffold decides), `BudgetExhausted`, and the `RunHalted` family, which a scaffold
        lets pass.
        """
        ...

    async def tool(self, key: str, *, job: ToolJob, content: str, place: Place) -> ToolAnswer:
        """One tool call, recorded under `key`; a call with a record is not made again.

        It takes a place in the run's window and nothing of its budgets. A tool that is off, rejects the job or is lost answers
        with a `failure`: only the `RunHalted` family is raised.
        """
        ...

    def calls_functions(self, role: str) -> bool:
        """True if the model of `role` gets tools as functions; False if a prompt describes them."""
        ...

    def sampling(self, role: str) -> Sampling:
        """How the role samples where a call says nothing else."""
        ...

    def keeps_to_schemas(self, role: str) -> bool:
        """True where the engine of `role` holds an answer to a JSON Schema."""
        ...

    def ends_by_grammar(self, role: str) -> bool:
        """True where the engine of `role` holds an answer to the values of its closing."""
        ...

    def context_tokens(self, role: str) -> int | None:
        """Tokens of prompt and completion together that the model of `role` can hold; None where that is not known."""
        ...

    def has_small_prompts(self, role: str) -> bool:
        """True where the model of `role` is asked in the forms for small models."""
        ...

    def keep_back(self, amount: Callable[[BudgetKind, float], float] | None) -> None:
        """From now on `generate` begins a call only while more than `amount(which, limit)` of every limit is left.

        A call that would take from that raises `BudgetKeptBack`. None: the whole budget may be spent.
        """
        ...

    async def go_over(self, reached: BudgetKeptBack) -> BudgetKeptBack:
        """Record that the run goes over to the phase for which budget was kept back, once in a run; what was recorded.

        On a replay no call that has no record begins before this point, so that the run goes over at the same place.
        """
        ...

    def emit(self, key: str, event: Event) -> None:
        """Record an event under a key that is unique in the run and the same on every replay."""
        ...

    async def control(self, point: str, refuse: Callable[[Command], str | None] | None = None) -> Sequence[Command]:
        """A control point. Returns the commands that take effect here; the same ones on every replay.

        `refuse` gives the reason why a command cannot take effect, "" if it can, or None if it waits for a later point.
        Refused commands become events and are not returned.
        """
        ...

    def nonce(self, key: str) -> str:
        """A delimiter for fencing foreign text in the prompt of call `key`: unguessable to the text, equal on replay."""
        ...
