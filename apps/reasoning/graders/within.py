"""A part of a run that has keys of its own: what it asks and tells stands under a prefix, so that parts do not meet."""

from collections.abc import Callable, Sequence
from typing import Any

from apps.reasoning.domain.control import Command
from apps.reasoning.domain.errors import BudgetKeptBack
from apps.reasoning.domain.events import Event
from apps.reasoning.domain.generation import Final, Message, OfferedTool, Place, Sampling
from apps.reasoning.domain.tools import ToolAnswer, ToolJob
from apps.reasoning.ports import BudgetKind, Context


class Within:
    """The `Context` of a part of a run. Budgets, nonces and models are the run's."""

    def __init__(self, ctx: Context, prefix: str) -> None:
        self._ctx = ctx
        self._prefix = prefix

    async def generate(
        self,
        key: str,
        *,
        role: str,
        messages: Sequence[Message],
        place: Place,
        sampling: Sampling | None = None,
        json_schema: dict[str, Any] | None = None,
        parts: Sequence[str] | None = None,
        tools: Sequence[OfferedTool] = (),
    ) -> Final:
        """As the port has it, under the prefix."""
        return await self._ctx.generate(
            self._key(key),
            role=role,
            messages=messages,
            place=place,
            sampling=sampling,
            json_schema=json_schema,
            parts=parts,
            tools=tools,
        )

    async def tool(self, key: str, *, job: ToolJob, content: str, place: Place) -> ToolAnswer:
        """As the port has it, under the prefix."""
        return await self._ctx.tool(self._key(key), job=job, content=content, place=place)

    def calls_functions(self, role: str) -> bool:
        """As the run's."""
        return self._ctx.calls_functions(role)

    def sampling(self, role: str) -> Sampling:
        """As the run's."""
        return self._ctx.sampling(role)

    def keeps_to_schemas(self, role: str) -> bool:
        """As the run's."""
        return self._ctx.keeps_to_schemas(role)

    def context_tokens(self, role: str) -> int | None:
        """As the run's."""
        return self._ctx.context_tokens(role)

    def has_small_prompts(self, role: str) -> bool:
        """As the run's."""
        return self._ctx.has_small_prompts(role)

    def keep_back(self, amount: Callable[[BudgetKind, float], float] | None) -> None:
        """As the run's: a budget is not divided."""
        self._ctx.keep_back(amount)

    async def go_over(self, reached: BudgetKeptBack) -> BudgetKeptBack:
        """As the run's."""
        return await self._ctx.go_over(reached)

    def emit(self, key: str, event: Event) -> None:
        """As the port has it, under the prefix; a call that the event names is named as it stands in the run."""
        call = getattr(event, "call", "")
        self._ctx.emit(self._key(key), event.model_copy(update={"call": self._key(call)}) if call else event)

    async def control(self, point: str, refuse: Callable[[Command], str] | None = None) -> Sequence[Command]:
        """As the port has it, under the prefix."""
        return await self._ctx.control(self._key(point), refuse)

    def nonce(self, key: str) -> str:
        """As the run's."""
        return self._ctx.nonce(key)

    def _key(self, key: str) -> str:
        return f"{self._prefix}/{key}"
