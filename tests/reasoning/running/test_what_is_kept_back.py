"""Exploring leaves a part of the budget to the write-up; where a run goes over is recorded, so that a replay does the same."""

import pytest

from apps.reasoning.domain.control import Command
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.scaffolds.intern_s1_mo.params import Params
from apps.reasoning.scaffolds.running.budgets import GONE_OVER
from apps.reasoning.scaffolds.running.controls import ScriptedControls
from apps.reasoning.scaffolds.spec import Budget
from tests.reasoning.play import FOLLOWS, Answer, Played, lemma, play, proof

PARAMS = Params(rounds=8, lemma_votes=2, proof_votes=2, revisions=1, patience=8)
ENDLESS: dict[str, Answer] = {
    "s*/r*/reason": "<claim>partial</claim>",
    **{f"s*/r{n}/summarise": lemma(n, f"Statement {n}.", "Plain.") for n in range(1, 9)},
    "final/write/*": proof("It follows."),
}


async def explored(budget: Budget, params: Params = PARAMS, **more: object) -> Played:
    return await play(ENDLESS | FOLLOWS, params, budget=budget, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("budget", [Budget(calls=20), Budget(tokens=300), Budget(seconds=10)])
async def test_a_budget_that_ends_while_the_run_explores_still_gives_a_judged_proof(budget: Budget) -> None:
    played = await explored(budget)
    assert played.outcome.accepted
    assert played.outcome.ended_by == "accepted"
    assert len(played.dispatcher.requests) == 20
    assert not any(event.kind == "budget.spent" for event in played.events.values())


async def test_the_last_round_says_why_no_other_follows() -> None:
    played = await explored(Budget(calls=20))
    stops = [event.stop for event in played.of("round.ended")]  # type: ignore[attr-defined]
    assert stops[-1] == "the rest of the budget is reserved for the write-up"
    assert set(stops[:-1]) == {""}


async def test_of_calls_one_proof_with_its_votes_is_kept_back_but_never_more_than_half() -> None:
    played = await explored(Budget(calls=12), PARAMS.model_copy(update={"proof_votes": 4}))
    assert [key for key in played.dispatcher.keys if key.startswith("final/check")] != []
    assert len(played.dispatcher.requests) == 12
    small = await explored(Budget(calls=5), PARAMS.model_copy(update={"proof_votes": 4}))
    assert small.outcome.ended_by == "budget"
    assert len([key for key in small.dispatcher.keys if not key.startswith("final/")]) >= 3


async def test_without_a_lemma_that_holds_nothing_is_kept_back() -> None:
    nothing = await play({"s*/r*/summarise": "<no-lemmas/>"} | ENDLESS | FOLLOWS, PARAMS, budget=Budget(calls=10))
    assert len(nothing.dispatcher.requests) == 10
    assert nothing.outcome.ended_by == "budget"
    assert "used up" in nothing.outcome.reason


async def test_it_can_be_switched_off() -> None:
    played = await explored(Budget(calls=20), PARAMS.model_copy(update={"kept_back": 0.0}))
    assert played.outcome.proof == ""
    assert Params(kept_back=0).kept_back == 0


async def test_a_budget_spent_by_the_write_up_itself_says_both() -> None:
    table = {"final/check/*": "<verdict>1</verdict>", "final/revise/*": proof("Surely.")} | ENDLESS | FOLLOWS
    played = await play(table, PARAMS.model_copy(update={"revisions": 8}), budget=Budget(calls=20))
    assert played.outcome.ended_by == "budget"
    assert played.outcome.proof
    assert len(played.dispatcher.requests) == 20


@pytest.mark.parametrize("rollouts", [1, 3])
async def test_resumed_at_every_call_the_run_goes_over_at_the_same_place(rollouts: int) -> None:
    params = PARAMS.model_copy(update={"rollouts": rollouts, "candidates": 2})
    whole = await explored(Budget(calls=24), params)
    assert GONE_OVER in {record.key for record in whole.journal.records}
    for cut in range(len(whole.journal.records) + 1):
        again = await explored(Budget(calls=24), params, journal=whole.journal.cut(cut))
        assert again.outcome == whole.outcome, cut
        assert again.events == whole.events, cut
        assert {record.key for record in again.journal.records} == {record.key for record in whole.journal.records}


async def test_more_budget_given_after_the_run_went_over_does_not_bring_it_back_on_a_replay() -> None:
    more = Command(id="c1", name="extend_budget", by="alice", args={"calls": 100})
    table = {"final/check/1/*": "<verdict>1</verdict>", "final/revise/*": proof("It follows at once.")} | ENDLESS | FOLLOWS
    controls = ScriptedControls({40: [more]})
    live = await play(table, PARAMS, budget=Budget(calls=20), controls=controls, journal=InMemoryJournal())
    points = controls.points
    for point in range(points):
        steered = ScriptedControls({point: [more]})
        first = await play(table, PARAMS, budget=Budget(calls=20), controls=steered)
        replay = await play(table, PARAMS, budget=Budget(calls=20), journal=first.journal.cut(len(first.journal.records)))
        assert replay.events == first.events
        assert replay.dispatcher.requests == []
        assert replay.outcome == first.outcome
    assert live.outcome.proof
