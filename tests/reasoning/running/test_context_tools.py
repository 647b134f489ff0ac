"""Tool calls of a run: recorded like calls, counted in no budget, and never the end of a run."""

import pytest

from apps.reasoning.domain.errors import (
    BackendError,
    BackendRefused,
    BackendUnavailable,
    EngineLost,
    NeedsFork,
    RequestRejected,
)
from apps.reasoning.domain.generation import Final, GenerationRequest, Place
from apps.reasoning.domain.tools import Execution, ToolAnswer
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.spec import Budget
from tests.reasoning.play import Answer, TableDispatcher, final, kinds, spec

PRINTED = final(Execution(stdout="4\n").model_dump_json())
RAISED = final(Execution(stderr="ZeroDivisionError", error="exception", exit_code=1).model_dump_json())


async def _ask(
    answer: Answer, journal: InMemoryJournal | None = None, *, content: str = "print(2+2)", budget: Budget | None = None
) -> tuple[ToolAnswer, InMemoryJournal, TableDispatcher]:
    dispatcher, journal = TableDispatcher({"*": answer}), journal or InMemoryJournal()
    context = RunContext(spec(budget), journal, dispatcher, NoControls(), backoff_s=0)
    return await context.tool("turn/1/python", job="python", content=content, place=Place(round=1)), journal, dispatcher


async def test_a_tool_call_goes_to_the_sandbox_as_a_job_with_the_content_alone() -> None:
    answer, _, dispatcher = await _ask(PRINTED)
    request: GenerationRequest = dispatcher.requests[0]
    assert (request.alias, request.job, request.messages[0].content) == ("sandbox", "python", "print(2+2)")
    assert answer.succeeded
    assert answer.execution == Execution(stdout="4\n")


async def test_it_is_recorded_with_its_content_and_announced_at_its_beginning_and_end() -> None:
    _, journal, _ = await _ask(PRINTED)
    assert kinds(journal.events) == [("turn/1/python/began", "tool.began"), ("turn/1/python/ended", "tool.ended")]
    record = journal.records[0]
    assert (record.kind, record.role, record.alias) == ("tool", "python", "sandbox")
    assert [journal.texts[sha] for sha in record.prompt_shas] == ["print(2+2)"]


async def test_a_recorded_one_is_not_asked_again() -> None:
    first, journal, _ = await _ask(RAISED)
    again, _, dispatcher = await _ask(PRINTED, journal.cut(1))
    assert again == first
    assert not again.succeeded
    assert dispatcher.requests == []


async def test_another_content_under_the_same_key_needs_a_fork() -> None:
    _, journal, _ = await _ask(PRINTED)
    with pytest.raises(NeedsFork):
        await _ask(PRINTED, journal.cut(1), content="print(3)")


async def test_budgets_neither_count_it_nor_stop_it() -> None:
    _, journal, _ = await _ask(PRINTED, budget=Budget(calls=1))
    assert (journal.spent.calls, journal.spent.tokens) == (0, 0)


@pytest.mark.parametrize("error", [BackendRefused("no fence holds"), BackendUnavailable("no worker is running")])
async def test_a_tool_that_is_off_answers_so_and_halts_nothing(error: BackendError) -> None:
    answer, journal, _ = await _ask(error)
    assert answer.is_off
    assert answer.failure == str(error)
    assert kinds(journal.events)[-1] == ("turn/1/python/failed", "tool.failed")
    again, _, _ = await _ask(PRINTED, journal.cut(1))
    assert again == answer, "a replay hears what was heard"


@pytest.mark.parametrize("error", [RequestRejected("too long"), EngineLost("it died")])
async def test_a_job_that_fails_is_not_a_tool_that_is_off(error: BackendError) -> None:
    answer, _, dispatcher = await _ask(error)
    assert (answer.failure, answer.is_off, answer.execution) == (str(error), False, None)
    assert len(dispatcher.requests) == (3 if error.retryable else 1)


@pytest.mark.parametrize("text", ["", "I like turtles.", '{"stdout": 3}', '{"unknown": ""}'])
async def test_an_answer_that_is_no_execution_is_a_failure(text: str) -> None:
    found: Final = final(text)
    answer, journal, _ = await _ask(found)
    assert "could not be read" in answer.failure
    assert kinds(journal.events)[-1][1] == "tool.failed"


async def test_a_fork_takes_over_equal_calls_and_makes_the_others_again() -> None:
    _, parent, _ = await _ask(PRINTED)
    dispatcher, journal = TableDispatcher({"*": RAISED}), InMemoryJournal()
    context = RunContext(spec(), journal, dispatcher, NoControls(), backoff_s=0, inherited=parent.recorded)
    same = await context.tool("turn/1/python", job="python", content="print(2+2)", place=Place(round=1))
    assert same.execution == Execution(stdout="4\n")
    assert journal.records[0].attempt == 0
    other = InMemoryJournal()
    context = RunContext(spec(), other, dispatcher, NoControls(), backoff_s=0, inherited=parent.recorded)
    answer = await context.tool("turn/1/python", job="python", content="print(3)", place=Place(round=1))
    assert not answer.succeeded
    assert len(dispatcher.requests) == 1
