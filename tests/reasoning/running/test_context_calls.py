"""Calls: made once, hashed, retried where it may help, and journaled where they fail for good."""

import asyncio
from collections.abc import Callable

import pytest

from apps.reasoning.domain.errors import (
    BackendError,
    BackendRefused,
    BackendUnavailable,
    CallFailed,
    DeadlineExceeded,
    EngineLost,
    NeedsFork,
    RequestRejected,
    RunCancelled,
    RunHalted,
)
from apps.reasoning.domain.generation import Final, GenerationRequest, Message, Place
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.journal.keys import sha_of
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.ports import Ask
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.running.window import Window
from tests.reasoning.play import TableDispatcher, final, kinds, spec


class Flaky:
    """Raises the given errors, then answers."""

    def __init__(self, *errors: BackendError) -> None:
        self.errors = list(errors)
        self.attempts: list[int] = []

    async def dispatch(self, request: GenerationRequest) -> Final:
        self.attempts.append(request.attempt)
        if self.errors:
            raise self.errors.pop(0)
        return final("answer")


def context(
    dispatcher: Flaky | TableDispatcher,
    journal: InMemoryJournal,
    inherited: Callable[[str], StepRecord | None] | None = None,
    window: int = 64,
) -> RunContext:
    return RunContext(spec(), journal, dispatcher, NoControls(), backoff_s=0, inherited=inherited, window=Window(window))


async def ask(ctx: RunContext, text: str = "Prove it.", key: str = "s0/r1/reason") -> Final:
    return await ctx.generate(key, Ask("reasoner", [Message(role="user", content=text)], Place(round=1)))


async def test_a_recorded_call_is_not_made_again() -> None:
    journal, dispatcher = InMemoryJournal(), TableDispatcher({"*": "answer"})
    first = await ask(context(dispatcher, journal))
    again = await ask(context(dispatcher, journal))
    assert first == again
    assert len(dispatcher.requests) == 1


async def test_a_recorded_call_with_another_prompt_needs_a_fork() -> None:
    journal, dispatcher = InMemoryJournal(), TableDispatcher({"*": "answer"})
    await ask(context(dispatcher, journal))
    with pytest.raises(NeedsFork, match="s0/r1/reason"):
        await ask(context(dispatcher, journal), "Prove something else.")


async def test_a_call_is_recorded_from_begin_to_end_with_its_texts_by_name() -> None:
    journal = InMemoryJournal()
    await ask(context(TableDispatcher({"*": final("answer", reasoning="hm")}), journal))
    assert kinds(journal.events) == [("s0/r1/reason/began", "call.began"), ("s0/r1/reason/ended", "call.ended")]
    assert journal.events[1][2].model_dump()["text_sha"] == sha_of("answer")
    assert journal.records[0].prompt_shas == (sha_of("Prove it."),)
    assert journal.texts[sha_of("Prove it.")] == "Prove it."


async def test_parts_of_a_prompt_are_stored_one_by_one_and_must_make_up_its_text() -> None:
    journal = InMemoryJournal()
    ctx = context(TableDispatcher({"*": "answer"}), journal)
    message = Message(role="user", content="problem library")
    await ctx.generate("k", Ask("reasoner", [message], Place(), parts=["problem ", "library"]))
    assert set(journal.texts.values()) == {"problem ", "library"}
    with pytest.raises(ValueError, match="parts"):
        await ctx.generate("l", Ask("reasoner", [message], Place(), parts=["problem "]))


async def test_a_lost_engine_is_tried_again_and_each_attempt_is_recorded() -> None:
    journal, flaky = InMemoryJournal(), Flaky(EngineLost(), EngineLost())
    assert (await ask(context(flaky, journal))).text == "answer"
    assert flaky.attempts == [1, 2, 3]
    assert [kind for _, kind in kinds(journal.events)] == ["call.began", "call.retried", "call.retried", "call.ended"]
    assert journal.records[0].attempt == 3


async def test_attempts_are_counted_on_from_those_that_the_dispatcher_made_by_itself() -> None:
    """A piece or an error of its third attempt may still come, so the next one is the fourth."""
    lost_on_its_way = EngineLost("It was lost three times.")
    lost_on_its_way.attempt = 3
    journal, flaky = InMemoryJournal(), Flaky(lost_on_its_way)
    await ask(context(flaky, journal))
    assert flaky.attempts == [1, 4]
    assert journal.records[0].attempt == 4


async def test_a_call_that_was_sent_again_on_its_way_keeps_the_number_of_the_attempt_that_was_answered() -> None:
    """Its worker was lost twice: the dispatcher sent it again, and nothing failed here."""

    class Resent(Flaky):
        async def dispatch(self, request: GenerationRequest) -> Final:
            return final("answer").model_copy(update={"attempt": 3})

    journal = InMemoryJournal()
    assert (await ask(context(Resent(), journal))).text == "answer"
    assert journal.records[0].attempt == 3


@pytest.mark.parametrize(
    ("errors", "attempts"),
    [([EngineLost(), EngineLost(), EngineLost()], 3), ([RequestRejected("too long")], 1), ([DeadlineExceeded()], 1)],
)
async def test_a_call_that_fails_for_good_is_journaled_and_fails_alike_on_replay(
    errors: list[BackendError], attempts: int
) -> None:
    journal, flaky = InMemoryJournal(), Flaky(*errors)
    with pytest.raises(CallFailed) as failed:
        await ask(context(flaky, journal))
    with pytest.raises(CallFailed) as replayed:
        await ask(context(flaky, journal))
    assert str(failed.value) == str(replayed.value)
    assert len(flaky.attempts) == attempts
    assert kinds(journal.events)[-1] == ("s0/r1/reason/failed", "call.failed")


@pytest.mark.parametrize(
    ("errors", "advice"),
    [
        ([BackendRefused()], "Correct models.toml"),
        ([BackendUnavailable(), BackendUnavailable(), BackendUnavailable()], "Start it"),
    ],
)
async def test_an_error_that_every_call_would_meet_halts_the_run_with_advice_and_leaves_no_record(
    errors: list[BackendError], advice: str
) -> None:
    journal = InMemoryJournal()
    with pytest.raises(RunHalted, match=advice):
        await ask(context(Flaky(*errors), journal))
    assert journal.records == ()


async def test_a_cancelled_call_is_not_recorded() -> None:
    journal = InMemoryJournal()
    with pytest.raises(RunCancelled):
        await ask(context(TableDispatcher({"*": final("half", finish_reason="cancelled")}), journal))
    assert journal.records == ()


async def test_no_more_calls_are_under_way_than_the_window_allows() -> None:
    running, most = 0, 0

    class Slow(TableDispatcher):
        async def dispatch(self, request: GenerationRequest) -> Final:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1
            return final("x")

    ctx = context(Slow({}), InMemoryJournal(), window=3)
    await asyncio.gather(*(ask(ctx, key=f"k{number}") for number in range(12)))
    assert most == 3


async def test_a_fork_takes_over_a_parents_answer_to_the_same_question_only() -> None:
    parent = InMemoryJournal()
    await ask(context(TableDispatcher({"*": "from the parent"}), parent))
    fork, dispatcher = InMemoryJournal(), TableDispatcher({"*": "asked again"})
    assert (await ask(context(dispatcher, fork, parent.recorded))).text == "from the parent"
    assert fork.records[0].key == "s0/r1/reason"
    other = InMemoryJournal()
    assert (await ask(context(dispatcher, other, parent.recorded), "Prove something else.")).text == "asked again"


async def test_a_role_without_a_model_halts_the_run() -> None:
    with pytest.raises(RunHalted, match="role poet"):
        await context(TableDispatcher({}), InMemoryJournal()).generate("k", Ask("poet", [], Place()))
