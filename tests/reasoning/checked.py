"""Runs with the computational verifier: a sandbox that is a function, and scaffolds played with it."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from apps.mathcheck.__main__ import findings_of
from apps.reasoning.domain.errors import BackendError
from apps.reasoning.domain.events import Event
from apps.reasoning.domain.generation import Final, GenerationRequest
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.tools import Execution
from apps.reasoning.domain.values import Value
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.running.formula_checks import FormulaChecks
from apps.reasoning.scaffolds.running.window import Window
from tests.reasoning.play import PROBLEM, TableDispatcher, spec

Reply = Callable[[GenerationRequest], Execution | BackendError]


def verifier(request: GenerationRequest) -> Execution:
    """The real verifier, in this process."""
    return Execution(stdout=json.dumps(findings_of(json.loads(request.messages[0].content))))


def finding(text_id: str, quote: str, start: int = 0, outcome: str = "refuted") -> dict[str, Any]:
    """A finding as the verifier prints it."""
    example = {"values": {"n": "1"}, "left": "1", "right": "2"} if outcome == "refuted" else None
    anchor = {"start": start, "end": start + len(quote), "quote": quote}
    return {
        "text_id": text_id, "anchor": anchor, "kind": "identity", "outcome": outcome, "reason": "", "tests": 3,
        "counterexample": example,
    }  # fmt: skip


class CheckingDispatcher(TableDispatcher):
    """Models answer from the table, the sandbox as `reply` says; `hangs` makes checks wait for ever."""

    def __init__(
        self, table: Mapping[str, Any], reply: Reply = verifier, *, hangs: bool = False, shuffle: int | None = None
    ) -> None:
        super().__init__(table, shuffle)
        self._reply = reply
        self._hangs = hangs
        self.checks: list[GenerationRequest] = []

    async def dispatch(self, request: GenerationRequest) -> Final:
        if request.job != "check_math":
            return await super().dispatch(request)
        self.checks.append(request)
        if self._hangs:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        answer = self._reply(request)
        if isinstance(answer, BackendError):
            raise answer
        return Final(text=answer.model_dump_json(), finish_reason="stop", duration_s=0.2)

    @property
    def checked(self) -> list[str]:
        """The keys of the checks that were asked for."""
        return [request.key for request in self.checks]


class Checked:
    """A finished run with its checks."""

    def __init__(self, outcome: Outcome, journal: InMemoryJournal, dispatcher: CheckingDispatcher) -> None:
        self.outcome = outcome
        self.journal = journal
        self.dispatcher = dispatcher

    def of(self, kind: str) -> list[Any]:
        return [event for _, _, event in self.journal.events if event.kind == kind]

    @property
    def course(self) -> list[tuple[str, Event]]:
        """All events except the checks."""
        return [(key, event) for _, key, event in self.journal.events if not event.kind.startswith("formulas.")]


async def play_checked(
    table: Mapping[str, Any],
    params: Value,
    reply: Reply = verifier,
    *,
    scaffold: str = "intern_s1_mo",
    journal: InMemoryJournal | None = None,
    hangs: bool = False,
    settle_s: float = 30.0,
    selected_s: float = 0.0,
) -> Checked:
    """Play a scaffold with its formulas checked, as the runtime does."""
    dispatcher = CheckingDispatcher(table, reply, hangs=hangs)
    journal = journal or InMemoryJournal()
    checks = FormulaChecks(PROBLEM.statement, journal, dispatcher)
    context = RunContext(
        spec(scaffold=scaffold), journal, dispatcher, NoControls(), backoff_s=0, window=Window(1), observe=checks.observe
    )
    outcome = await SCAFFOLDS[scaffold].solve(PROBLEM, context, params)
    await checks.settle(settle_s, selected_s)
    return Checked(outcome, journal, dispatcher)
