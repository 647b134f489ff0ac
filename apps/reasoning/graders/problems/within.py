"""Nested contexts: `Through` delegates everything, `Within` is a part of a run with its own keys."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from apps.reasoning.domain.control import Command
from apps.reasoning.domain.errors import BudgetKeptBack
from apps.reasoning.domain.events import Event
from apps.reasoning.domain.generation import Final, Place, Sampling
from apps.reasoning.domain.tools import ToolAnswer, ToolJob
from apps.reasoning.ports import Ask, BudgetKind, Context


class Through:
    """A `Context` that delegates to another one. Override methods as needed.

    `_key` and `_role` translate keys and roles to those of the other context.
    """

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    async def generate(self, key: str, ask: Ask) -> Final:
        return await self._ctx.generate(self._key(key), replace(ask, role=self._role(ask.role)))

    async def tool(self, key: str, *, job: ToolJob, content: str, place: Place) -> ToolAnswer:
        return await self._ctx.tool(self._key(key), job=job, content=content, place=place)

    def calls_functions(self, role: str) -> bool:
        return self._ctx.calls_functions(self._role(role))

    def sampling(self, role: str) -> Sampling:
        return self._ctx.sampling(self._role(role))

    def keeps_to_schemas(self, role: str) -> bool:
        return self._ctx.keeps_to_schemas(self._role(role))

    def ends_by_grammar(self, role: str) -> bool:
        return self._ctx.ends_by_grammar(self._role(role))

    def context_tokens(self, role: str) -> int | None:
        return self._ctx.context_tokens(self._role(role))

    def has_small_prompts(self, role: str) -> bool:
        return self._ctx.has_small_prompts(self._role(role))

    def keep_back(self, amount: Callable[[BudgetKind, float], float] | None) -> None:
        self._ctx.keep_back(amount)

    async def go_over(self, reached: BudgetKeptBack) -> BudgetKeptBack:
        return await self._ctx.go_over(reached)

    def emit(self, key: str, event: Event) -> None:
        self._ctx.emit(self._key(key), event)

    async def control(self, point: str, refuse: Callable[[Command], str | None] | None = None) -> Sequence[Command]:
        return await self._ctx.control(self._key(point), refuse)

    def nonce(self, key: str) -> str:
        return self._ctx.nonce(key)

    def _key(self, key: str) -> str:
        return key

    def _role(self, role: str) -> str:
        return role


class Within(Through):
    """The `Context` of a part of a run: its calls and events have a key prefix, so that parts do not collide.

    Budgets, nonces and models are the run's.
    """

    def __init__(self, ctx: Context, prefix: str) -> None:
        super().__init__(ctx)
        self._prefix = prefix

    def emit(self, key: str, event: Event) -> None:
        """Emit under the prefix; a call named by the event gets the prefix too."""
        call = getattr(event, "call", "")
        super().emit(key, event.model_copy(update={"call": self._key(call)}) if call else event)

    def _key(self, key: str) -> str:
        return f"{self._prefix}/{key}"
