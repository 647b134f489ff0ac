"""The context of one trial: a program runs in it, the model answers once in one role, and all other answers are authored."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from apps.reasoning.domain.control import Command
from apps.reasoning.domain.errors import BudgetExhausted, BudgetKeptBack, CallFailed
from apps.reasoning.domain.events import Event
from apps.reasoning.domain.generation import Final, GenerationRequest, Place, Sampling, Usage
from apps.reasoning.domain.tools import ToolAnswer, ToolJob
from apps.reasoning.graders.problems.within import Through
from apps.reasoning.journal.keys import sha_of
from apps.reasoning.ports import Ask, BudgetKind, Context
from apps.reasoning.scaffolds.running.hearing import AGAIN
from apps.reasoning.trying.material import Attempt
from apps.reasoning.trying.stand_ins import stand_in

#: The only role of the run; each request sets its own sampling.
MODEL = "model"
_KEY_LENGTH = 20


class Asked:
    """Questions to the model, each asked once; programs with the same prompt share the answer.

    A call's key is derived from the question, so that it does not depend on which program asks first.
    """

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self._calls: dict[str, asyncio.Task[Final]] = {}

    async def answer(self, ask: Ask) -> tuple[str, Final]:
        """The call's key and its answer. Raises as `Context.generate`."""
        key = _key(ask)
        if key not in self._calls:
            self._calls[key] = asyncio.ensure_future(self.ctx.generate(key, ask))
        return key, await asyncio.shield(self._calls[key])

    def close(self) -> None:
        """Stop calls under way."""
        for task in self._calls.values():
            task.cancel()


class Stage(Through):
    """The `Context` of a trial. The first call of `role` and its second request go to the model."""

    def __init__(self, asked: Asked, method: str, role: str, attempt: Attempt, sampling: Sampling) -> None:
        super().__init__(asked.ctx)
        self.asked = asked
        self.method = method
        self.role = role
        self.attempt = attempt
        self.own = sampling
        #: The program's key of the call on trial; "" before it.
        self.key = ""
        #: For each answer of the model: the program's key, the key of the call, and the answer.
        self.finals: list[tuple[str, str, Final]] = []
        self.events: list[Event] = []
        self.failure = ""
        #: The exhausted budget that prevented a further answer.
        self.is_over: BudgetExhausted | None = None

    async def generate(self, key: str, ask: Ask) -> Final:
        """Answer with the model for the call on trial, else with an authored answer."""
        if not self._is_on_trial(key, ask.role):
            request = GenerationRequest(run=self.method, key=key, role=ask.role, alias="", messages=tuple(ask.messages))
            return Final(text=stand_in(self.method, request, self.attempt), finish_reason="stop", usage=Usage())
        own = ask.sampling or self.own
        own = own.model_copy(update={"max_new_tokens": min(own.max_new_tokens, self.own.max_new_tokens)})
        where = Place(subject=f"{self.method} {self.role}")
        try:
            call, final = await self.asked.answer(replace(ask, role=MODEL, place=where, sampling=own))
        except CallFailed as failure:
            self.failure = failure.reason
            raise
        except BudgetExhausted as exhausted:
            self.is_over = exhausted
            raise
        self.finals.append((key, call, final))
        return final

    def _is_on_trial(self, key: str, role: str) -> bool:
        if role != self.role:
            return False
        self.key = self.key or key
        return key == self.key or key.startswith(f"{self.key}/{AGAIN}")

    async def tool(self, key: str, *, job: ToolJob, content: str, place: Place) -> ToolAnswer:
        """Run no tool: the trial concerns only the model's answers."""
        return ToolAnswer(job=job, failure="no tool is run while a model is tried", is_off=True)

    def calls_functions(self, role: str) -> bool:
        """As the model's."""
        return role == self.role and super().calls_functions(role)

    def sampling(self, role: str) -> Sampling:
        """The sampling planned for the role on trial."""
        return self.own

    def keeps_to_schemas(self, role: str) -> bool:
        """As the model's engine."""
        return role == self.role and super().keeps_to_schemas(role)

    def ends_by_grammar(self, role: str) -> bool:
        """As the model's engine."""
        return role == self.role and super().ends_by_grammar(role)

    def has_small_prompts(self, role: str) -> bool:
        """As the model's."""
        return role == self.role and self.asked.ctx.has_small_prompts(MODEL)

    def keep_back(self, amount: Callable[[BudgetKind, float], float] | None) -> None:
        """Ignore reserves: authored answers need no budget."""

    async def go_over(self, reached: BudgetKeptBack) -> BudgetKeptBack:
        """Never called, because reserves are ignored."""
        return reached

    def emit(self, key: str, event: Event) -> None:
        """Keep the event; it shows how the answer was read."""
        self.events.append(event)

    async def control(self, point: str, refuse: Callable[[Command], str | None] | None = None) -> Sequence[Command]:
        """Take no commands."""
        return ()

    def _role(self, role: str) -> str:
        return MODEL


def _key(ask: Ask) -> str:
    said = [message.model_dump() for message in ask.messages]
    how: dict[str, Any] = {
        "json_schema": ask.json_schema,
        "sampling": ask.sampling and ask.sampling.model_dump(),
        "tools": [tool.model_dump() for tool in ask.tools],
    }
    if ask.ending:
        how["ending"] = ask.ending.model_dump()
    return f"ask/{sha_of(json.dumps([said, how], sort_keys=True, default=str))[:_KEY_LENGTH]}"
