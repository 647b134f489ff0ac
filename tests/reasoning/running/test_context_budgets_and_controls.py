"""Budgets stop a run at a call boundary; commands take effect at control points, and at the same ones on every replay."""

import pytest

from apps.reasoning.domain.control import Command
from apps.reasoning.domain.errors import BudgetExhausted
from apps.reasoning.domain.generation import Message, Place
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.ports import Ask, Controls
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls, ScriptedControls
from apps.reasoning.scaffolds.spec import Budget
from tests.reasoning.play import TableDispatcher, kinds, spec

HINT = Command(id="c1", name="hint", by="alice", args={"text": "Try $n=1$."})


def context(journal: InMemoryJournal, controls: Controls | None = None, budget: Budget | None = None) -> RunContext:
    return RunContext(spec(budget), journal, TableDispatcher({"*": "x"}), controls or NoControls(), backoff_s=0)


async def ask(ctx: RunContext, key: str) -> None:
    await ctx.generate(key, Ask("reasoner", [Message(role="user", content="?")], Place()))


@pytest.mark.parametrize(
    ("budget", "made"), [(Budget(calls=2), 2), (Budget(tokens=31), 3), (Budget(seconds=0.9), 2), (Budget(), 9)]
)
async def test_a_used_up_budget_stops_at_a_call_boundary_and_is_reported_once(budget: Budget, made: int) -> None:
    journal = InMemoryJournal()
    ctx = context(journal, budget=budget)
    for number in range(9):
        if number < made:
            await ask(ctx, f"k{number}")
        else:
            with pytest.raises(BudgetExhausted):
                await ask(ctx, f"k{number}")
    assert len(journal.records) == made
    assert [kind for _, kind in kinds(journal.events)].count("budget.spent") == (made < 9)


async def test_recorded_calls_cost_nothing_again_but_count_after_a_resume() -> None:
    journal = InMemoryJournal()
    await ask(context(journal, budget=Budget(calls=2)), "k1")
    await ask(context(journal, budget=Budget(calls=2)), "k2")
    resumed = context(journal.cut(2), budget=Budget(calls=2))
    await ask(resumed, "k1")
    await ask(resumed, "k2")
    with pytest.raises(BudgetExhausted, match="2 calls"):
        await ask(resumed, "k3")


async def test_an_extended_budget_lets_the_run_continue_here_and_on_replay() -> None:
    more = Command(id="c2", name="extend_budget", by="alice", args={"calls": 1})
    journal = InMemoryJournal()
    for controls in (ScriptedControls({0: [more]}), NoControls()):
        ctx = context(journal, controls, Budget(calls=1))
        await ask(ctx, "k1")
        await ctx.control("r1/end")
        await ask(ctx, "k2")
        with pytest.raises(BudgetExhausted):
            await ask(ctx, "k3")


async def test_commands_come_again_at_the_same_point_on_replay() -> None:
    journal = InMemoryJournal()
    ctx = context(journal, ScriptedControls({1: [HINT]}))
    assert list(await ctx.control("r1/reason")) == []
    assert list(await ctx.control("r1/votes")) == [HINT]
    assert ("control/c1/applied", "control.applied") in kinds(journal.events)
    replay = context(journal.cut(1), ScriptedControls({0: [HINT.model_copy(update={"id": "late"})]}))
    assert list(await replay.control("r1/reason")) == []
    assert list(await replay.control("r1/votes")) == [HINT]


async def test_a_new_command_waits_until_the_replay_is_over() -> None:
    journal = InMemoryJournal()
    await ask(context(journal), "k1")
    resumed = context(journal.cut(1), ScriptedControls({0: [HINT]}))
    assert list(await resumed.control("r1/reason")) == []
    await ask(resumed, "k1")
    assert list(await resumed.control("r1/end")) == [HINT]


async def test_a_refused_command_is_reported_and_not_returned() -> None:
    journal = InMemoryJournal()
    ctx = context(journal, ScriptedControls({0: [HINT]}))
    assert list(await ctx.control("r1/reason", lambda command: "No hints today.")) == []
    assert kinds(journal.events) == [("control/c1/refused", "control.refused")]
    assert list(await context(journal.cut(1)).control("r1/reason")) == []
