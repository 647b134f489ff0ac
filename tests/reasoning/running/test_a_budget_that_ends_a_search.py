"""If the budget ends a search of candidates, the finished calls decide which solution is selected."""

from typing import Any

import pytest

from apps.reasoning.domain.agent_events import MemoryStored
from apps.reasoning.domain.candidate_events import PairDecided
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.scaffolds import nomos, rsa
from apps.reasoning.scaffolds.alpha_apollo.params import Params as ApolloParams
from apps.reasoning.scaffolds.spec import Budget
from tests.reasoning import agents
from tests.reasoning.candidates import better, named, score
from tests.reasoning.play import Answer, Played, play

NOMOS: dict[str, Any] = {
    "solve/*": named,
    "mark/c1.1": score(7),
    "mark/c1.2": score(3),
    "mark/c1.3": score(4),
    "mark/c1.4": score(5),
    "consolidate": '<group number="1">1</group><group number="2">2, 3, 4</group><likeliest>2</likeliest>',
}


def _text(run: Played) -> str:
    return str(run.events["proof/1"].model_dump()["text"])


def _decided(run: Played) -> list[PairDecided]:
    return [event for event in run.of("pair.decided") if isinstance(event, PairDecided)]


def _older_loses(request: GenerationRequest) -> Answer:
    """A judge that prefers the younger of two candidates, in whichever order it reads them."""
    one, two = request.key.split("/")[2].split("-")
    shown_first = one if request.key.endswith("/1") else two
    return better("A" if shown_first == max(one, two) else "B")


async def test_a_knock_out_that_the_budget_ends_picks_inside_the_likeliest_group() -> None:
    run = await play(
        {**NOMOS, "final/*": better("A")}, nomos.Params(solutions=4, kept=4), scaffold="nomos", budget=Budget(calls=9)
    )
    assert (run.outcome.ended_by, _decided(run)) == ("budget", [])
    assert "what solve/4 wrote" in _text(run), "c1.1 has the best mark, but no other solution has its conclusion"
    assert "the group held most likely right (3 of 4 solutions)" in run.outcome.reason


async def test_the_loser_of_a_nomos_pair_is_not_picked_when_the_budget_ends() -> None:
    table = {**NOMOS, "mark/*": score(6), "consolidate": '<group number="1">1, 2, 3, 4</group><likeliest>1</likeliest>'}
    run = await play(
        {**table, "final/*": _older_loses}, nomos.Params(solutions=4, kept=4), scaffold="nomos", budget=Budget(calls=13)
    )
    beaten = {name for event in _decided(run) for name in event.pair} - {event.winner for event in _decided(run)}
    assert run.outcome.ended_by == "budget"
    assert "c1.1" in beaten, "the best marked one lost"
    assert not any(f"what solve/{name[-1]} wrote" in _text(run) for name in beaten)
    assert "the knock-out in the group held most likely right" in run.outcome.reason


async def test_half_a_tournament_of_populations_is_not_called_none() -> None:
    table: dict[str, Any] = {"step/*": named, "final/*": _older_loses}
    params = rsa.Params(population=4, subset=2, steps=1)
    run = await play(table, params, scaffold="rsa", budget=Budget(calls=12))
    assert run.outcome.ended_by == "budget"
    winners = {event.winner for event in _decided(run)}
    assert len(winners) == 2
    assert any(f"what step/1/{name.split('.')[1]} wrote" in _text(run) for name in winners)
    assert "is one of 2 solutions that the knock-out among 4 had left" in run.outcome.reason
    none = await play(table, params, scaffold="rsa", budget=Budget(calls=8))
    assert "no pair was compared" in none.outcome.reason


def _stored(run: Played) -> list[MemoryStored]:
    return [event for event in run.of("memory.stored") if isinstance(event, MemoryStored)]


@pytest.mark.parametrize(("calls", "judged"), [(11, ("c1.1", "c1.2")), (7, ("c1.1",)), (6, ())])
async def test_the_result_of_one_solver_counts_although_the_budget_ends_another(calls: int, judged: tuple[str, ...]) -> None:
    """Two solutions, two abstracts, three reports on each, a summary of each: twelve calls."""
    params = ApolloParams(rounds=1, evaluators=3, threads=2, turns=1, stop_early=False)
    table = agents.follows({"judge/c1.2/*": agents.report(0)})
    whole = await play(table, params, scaffold="alpha_apollo")
    assert len(whole.dispatcher.requests) == 12
    run = await play(table, params, scaffold="alpha_apollo", budget=Budget(calls=calls))
    assert tuple(event.candidate for event in _stored(run)) == judged
    if judged:
        assert (run.outcome.accepted, run.outcome.reason) == (True, "Accepted: 3 of 3 evaluators found it correct.")
        assert "what solve/c1.1" in _text(run)
    else:
        assert run.outcome.accepted is None
        assert "The evaluators did not finish judging it." in run.outcome.reason


async def test_a_first_panel_counts_though_the_budget_ends_the_second() -> None:
    params = ApolloParams(rounds=1, evaluators=3, turns=1)
    run = await play(agents.follows({}), params, scaffold="alpha_apollo", budget=Budget(calls=7))
    assert [(event.ayes, event.valid) for event in _stored(run)] == [(3, 3)]
    assert run.outcome.reason == "Accepted: 3 of 3 evaluators found it correct."
