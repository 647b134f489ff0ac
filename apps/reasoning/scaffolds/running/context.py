"""The environment of a scaffold: recorded calls, budgets, retries, control points. Implements the `Context` port.

A call with a record is not made again; everything else a scaffold does is recomputed on every replay, so it must follow
from recorded results alone. A record whose request differs from what is asked now means other code or prompts: `NeedsFork`.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from apps.reasoning.domain.control import Command, ControlApplied, ControlRefused, ControlRequested
from apps.reasoning.domain.errors import BackendError, BudgetKeptBack, NeedsFork, RunCancelled, RunHalted
from apps.reasoning.domain.events import CallRetried, Event
from apps.reasoning.domain.generation import Final, GenerationRequest, Place, Sampling
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.domain.tools import ToolAnswer, ToolJob
from apps.reasoning.journal.keys import nonce_for, request_hash, seed_for
from apps.reasoning.ports import Ask, BudgetKind, Controls, Dispatcher, Journal
from apps.reasoning.scaffolds.running.budgets import GONE_OVER, BudgetWatch
from apps.reasoning.scaffolds.running.calling import call_began, call_ending, call_record, final_of, parts_of
from apps.reasoning.scaffolds.running.tooling import (
    hash_of_tool,
    tool_answer,
    tool_began,
    tool_ending,
    tool_record,
    tool_request,
)
from apps.reasoning.scaffolds.running.window import Window
from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec

MAX_ATTEMPTS = 3


class RunContext:
    """The `Context` of one run.

    `window` limits concurrent calls. `inherited` returns the parent run's record for a key, which a fork uses if the request
    is unchanged. `observe` is called with every event that the scaffold emits, also on a replay.
    """

    def __init__(
        self,
        spec: RunSpec,
        journal: Journal,
        dispatcher: Dispatcher,
        controls: Controls,
        *,
        run: str = "run",
        window: Window | None = None,
        backoff_s: float = 1.0,
        inherited: Callable[[str], StepRecord | None] | None = None,
        observe: Callable[[Event], None] | None = None,
    ) -> None:
        self.spec = spec
        self._observe = observe
        self._budget = BudgetWatch(spec.budget, journal, spec.prices)
        self._run = run
        self._journal = journal
        self._dispatcher = dispatcher
        self._controls = controls
        self._inherited = inherited
        self._backoff_s = backoff_s
        self._window = window or Window(64)
        self._waiting: list[Command] = []
        self._seed = spec.seed
        self._follows = inherited is not None

    async def generate(self, key: str, ask: Ask) -> Final:
        spec, seed = self._role(ask.role), seed_for(self._seed, key)
        drawn: dict[str, Any] = {
            "role": ask.role,
            "alias": spec.alias,
            "messages": tuple(ask.messages),
            "tools": tuple(ask.tools),
            "sampling": ask.sampling or spec.sampling,
            "json_schema": ask.json_schema,
            "seed": seed,
            "ending": ask.ending,
        }
        asked = request_hash(revision=spec.revision, **drawn)
        if record := self._recorded(key, asked):
            return final_of(record)
        request = GenerationRequest(
            run=self._run,
            key=key,
            deadline_s=spec.deadline_s,
            priority=self.spec.priority,
            capture=self.spec.capture,
            segment_tokens=self.spec.segment_tokens,
            **drawn,
        )
        return await self._ask(request, asked, ask.place, parts_of(request, ask.parts))

    def _recorded(self, key: str, asked: str) -> StepRecord | None:
        record = self._journal.recorded(key)
        if record and record.request_hash != asked:
            raise NeedsFork(f"{key}: this call was recorded with a different prompt, model or sampling. Fork the run.")
        return record

    async def _ask(self, request: GenerationRequest, asked: str, place: Place, texts: Sequence[str]) -> Final:
        """Answer a call without a record: from the parent run if the request is unchanged, else from a backend."""
        async with self._window:
            if (handed_down := self._inherited and self._inherited(request.key)) and handed_down.request_hash == asked:
                return await self._inherit(handed_down, texts)
            if self._inherited and self._follows and self.spec.branch:
                self._budget.inherit(self._inherited(GONE_OVER))
            self._budget.check()
            self._budget.under_way += 1
            try:
                return await self._call(request, asked, place, texts)
            finally:
                self._budget.under_way -= 1

    async def tool(self, key: str, *, job: ToolJob, content: str, place: Place) -> ToolAnswer:
        request = tool_request(self._run, key, job, content, self.spec.priority)
        asked = hash_of_tool(request)
        if record := self._journal.recorded(key):
            if record.request_hash != asked:
                raise NeedsFork(f"{key}: this tool call was recorded with different content. Fork the run.")
            return tool_answer(record, job)
        async with self._window:
            self.emit(*tool_began(request, job, place))
            if (handed_down := self._inherited and self._inherited(key)) and handed_down.request_hash == asked:
                record = handed_down.model_copy(update={"attempt": 0})
            else:
                result, attempt = await self._attempts(request)
                if isinstance(result, Final) and result.finish_reason == "cancelled":
                    raise RunCancelled
                record = tool_record(request, asked, place, result, attempt)
            await self._journal.append(record, tool_ending(record, job), (content,))
        return tool_answer(record, job)

    def emit(self, key: str, event: Event) -> None:
        self._journal.emit(key, event)
        if self._observe is not None:
            self._observe(event)

    def calls_functions(self, role: str) -> bool:
        return self._role(role).tools == "native"

    def sampling(self, role: str) -> Sampling:
        return self._role(role).sampling

    def keeps_to_schemas(self, role: str) -> bool:
        return self._role(role).closing != "text"

    def ends_by_grammar(self, role: str) -> bool:
        return self._role(role).closing == "grammar"

    def context_tokens(self, role: str) -> int | None:
        return self._role(role).context_tokens

    def has_small_prompts(self, role: str) -> bool:
        return self._role(role).prompts == "small"

    def keep_back(self, amount: Callable[[BudgetKind, float], float] | None) -> None:
        self._budget.kept_back = amount

    async def go_over(self, reached: BudgetKeptBack) -> BudgetKeptBack:
        return await self._budget.go_over(reached)

    async def control(self, point: str, refuse: Callable[[Command], str | None] | None = None) -> Sequence[Command]:
        key, branch = f"control/{point}", self.spec.branch
        self._seed = self.spec.redraws.get(point, self._seed)
        follows, leaves = self._follows, branch is not None and branch.point == point
        self._follows = follows and not leaves
        if record := self._journal.recorded(key):
            decided = _commands_of(record)
        elif self._journal.unread:
            return ()
        else:
            handed_down = self._inherited(key) if self._inherited and follows else None
            changes = branch.commands if branch and leaves else ()
            decided = await self._decide(key, point, refuse, handed_down, changes)
        for command in decided:
            if command.name == "extend_budget":
                self._budget.extend(command)
        return decided

    def nonce(self, key: str) -> str:
        return nonce_for(self.spec.seed, key)

    def _role(self, role: str) -> RoleSpec:
        try:
            return self.spec.roles[role]
        except KeyError:
            raise RunHalted(f"The run has no model for the role {role}. Fork the run and choose one.") from None

    async def _inherit(self, record: StepRecord, texts: Sequence[str]) -> Final:
        record = record.model_copy(update={"attempt": 0})
        self.emit(f"{record.key}/began", call_began(record.key, record.role, record.alias, record.place))
        await self._journal.append(record, call_ending(record), texts)
        return final_of(record)

    async def _call(self, request: GenerationRequest, asked: str, place: Place, texts: Sequence[str]) -> Final:
        self.emit(f"{request.key}/began", call_began(request.key, request.role, request.alias, place))
        result, attempt = await self._dispatch(request)
        if isinstance(result, Final) and result.finish_reason == "cancelled":
            raise RunCancelled
        record = call_record(request, asked, place, result, attempt, texts)
        await self._journal.append(record, call_ending(record), texts)
        return final_of(record)

    async def _dispatch(self, request: GenerationRequest) -> tuple[Final | str, int]:
        """Return the final or the reason of the failure, with its attempt. Raises `RunHalted` for fatal errors."""
        result, attempt = await self._attempts(request)
        if isinstance(result, Final):
            return result, attempt
        if result.fatal_for_run:
            raise RunHalted(str(result)) from result
        return str(result), attempt

    async def _attempts(self, request: GenerationRequest) -> tuple[Final | BackendError, int]:
        """Return the final or the last error, with the number of its attempt.

        A dispatcher may make several attempts itself; numbers never decrease, because late pieces and errors carry them.
        """
        for tried in range(1, MAX_ATTEMPTS + 1):
            try:
                final = await self._dispatcher.dispatch(request)
                return final, max(request.attempt, final.attempt)
            except BackendError as error:
                reason, last = str(error), max(request.attempt, error.attempt)
                if not error.retryable or tried == MAX_ATTEMPTS:
                    return error, last
            request = request.model_copy(update={"attempt": last + 1})
            self.emit(f"{request.key}/retried/{last + 1}", CallRetried(call=request.key, attempt=last + 1, reason=reason))
            await asyncio.sleep(self._backoff_s * 2 ** (tried - 1))
        raise AssertionError("unreachable")

    async def _decide(
        self,
        key: str,
        point: str,
        refuse: Callable[[Command], str | None] | None,
        handed_down: StepRecord | None = None,
        changes: Sequence[Command] = (),
    ) -> list[Command]:
        """Take the pending commands, refuse impossible ones, and record those that do not wait as taken at this point.

        A fork first takes the commands of its parent's record, then its own `changes`. They were requested before the run.
        """
        taken = _commands_of(handed_down) if handed_down else []
        events = [event for command in taken for event in (_requested(command), _applied(command, point))]
        events += [_requested(command) for command in changes]
        pending, self._waiting = [*self._waiting, *changes, *await self._controls.take()], []
        for command in pending:
            reason = refuse(command) if refuse else ""
            if reason is None:
                self._waiting.append(command)
            elif reason:
                refused = ControlRefused(command=command.id, name=command.name, reason=reason)
                events.append((f"control/{command.id}/refused", refused))
            else:
                taken.append(command)
                events.append(_applied(command, point))
        if events:
            value = {"commands": [command.model_dump(mode="json") for command in taken]}
            await self._journal.append(StepRecord(key=key, kind="decision", value=value), events)
        return taken


def _commands_of(record: StepRecord) -> list[Command]:
    return [Command.model_validate(row) for row in (record.value or {}).get("commands", [])]


def _requested(command: Command) -> tuple[str, Event]:
    event = ControlRequested(command=command.id, name=command.name, by=command.by, args=command.args)
    return f"control.requested/{command.id}", event


def _applied(command: Command, point: str) -> tuple[str, Event]:
    return f"control/{command.id}/applied", ControlApplied(command=command.id, name=command.name, point=point)
