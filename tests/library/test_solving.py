"""`solve` and `asolve`: a scaffold on an address, as the application would run it."""

import asyncio

import pytest

from apps.reasoning.domain.candidate_events import CandidateJudged
from apps.reasoning.domain.events import CallEnded, ProofSelected, RunFinished
from apps.reasoning.library import RunHalted, asolve, solve
from apps.reasoning.programs.registry import SCAFFOLDS
from tests.library.conftest import CONTEXT, PROBLEM, ModelServer, Served
from tests.reasoning.candidates import decision


def test_a_scaffold_is_run_to_its_result(server: ModelServer, served: Served) -> None:
    result = solve(PROBLEM, scaffold="self_check", preset="quick", **served)
    assert (result.accepted, result.outcome.ended_by) == (True, "accepted")
    assert result.proof == "By Lemma 2 we have $2S=n(n+1)$.\n\nDivide by $2$."
    assert (result.calls, result.unread, result.failed) == (len(server.requests), (), ())
    assert result.usage.completion > 0


def test_roles_sample_as_the_scaffold_says_within_half_of_the_context(server: ModelServer, served: Served) -> None:
    solve(PROBLEM, scaffold="self_check", preset="quick", **served)
    solver = SCAFFOLDS["self_check"].roles[0]
    assert server.requests[0]["temperature"] == solver.temperature
    assert server.requests[0]["max_tokens"] == CONTEXT // 2 < solver.max_new_tokens
    server.requests.clear()
    solve(PROBLEM, scaffold="self_check", preset="quick", context_tokens=4000, temperature=0.1, max_new_tokens=900, **served)
    assert {(body["temperature"], body["max_tokens"]) for body in server.requests} == {(0.1, 900)}


async def test_events_come_as_they_happen_and_calls_have_their_texts(served: Served) -> None:
    run = asolve(PROBLEM, scaffold="self_check", preset="quick", **served)
    with pytest.raises(RunHalted, match="has not ended"):
        _ = run.result
    events = [event async for event in run]
    ended = [event for event in events if isinstance(event, CallEnded)]
    assert isinstance(events[-1], RunFinished)
    assert events[-1].proof == run.result.outcome.proof
    assert [type(event) for event in events].index(ProofSelected) > [type(event) for event in events].index(CandidateJudged)
    first = run.call(ended[0].call)
    assert (first.role, PROBLEM in first.prompt, "Divide by $2$." in first.text) == ("solver", True, True)
    with pytest.raises(KeyError):
        run.call("another")


async def test_a_run_is_used_once(served: Served) -> None:
    run = asolve(PROBLEM, scaffold="self_check", preset="quick", **served)
    await run
    with pytest.raises(RuntimeError, match="once"):
        await run


async def test_inside_a_running_loop_the_other_function_is_named(served: Served) -> None:
    with pytest.raises(RuntimeError, match="await asolve"):
        solve(PROBLEM, scaffold="self_check", **served)


def test_an_unread_answer_is_reported_with_its_reason_and_text(server: ModelServer, served: Served) -> None:
    server.answers["You examine a solution of an olympiad problem"] = "I cannot say."
    result = solve(PROBLEM, scaffold="self_check", params={"iterations": 1, "improve": False}, **served)
    assert result.accepted is None or result.accepted is False
    assert {(one.role, one.text) for one in result.unread} == {("verifier", "I cannot say.")}
    assert all(one.reason for one in result.unread)
    assert any(one.was_asked_again for one in result.unread)


def test_a_budget_ends_a_run_with_what_there_is(server: ModelServer, served: Served) -> None:
    result = solve(PROBLEM, scaffold="self_check", calls=2, **served)
    assert (result.outcome.ended_by, result.calls, len(server.requests)) == ("budget", 2, 2)
    assert result.proof


def test_seconds_are_those_of_the_clock_not_of_the_calls_added_up(server: ModelServer, served: Served) -> None:
    server.pause_s = 0.002
    result = solve(PROBLEM, scaffold="rsa", preset="quick", **served)
    assert server.most_at_once > 1
    assert result.seconds > 0
    ended = solve(PROBLEM, scaffold="rsa", preset="quick", seconds=0.001, **served)
    assert ended.outcome.ended_by == "budget"


def test_no_more_calls_are_out_than_the_concurrency_says(server: ModelServer, served: Served) -> None:
    server.pause_s = 0.002
    solve(PROBLEM, scaffold="rsa", preset="quick", concurrency=2, **served)
    assert server.most_at_once == 2


def test_one_seed_asks_the_same_and_another_does_not(server: ModelServer, served: Served) -> None:
    first = solve(PROBLEM, scaffold="self_check", calls=1, seed=5, **served)
    solve(PROBLEM, scaffold="self_check", calls=1, seed=5, **served)
    solve(PROBLEM, scaffold="self_check", calls=1, **served)
    assert first.seed == 5
    assert server.requests[0]["seed"] == server.requests[1]["seed"] != server.requests[2]["seed"]


def test_a_hint_reaches_the_next_writing_role(server: ModelServer, served: Served) -> None:
    solve(PROBLEM, scaffold="self_check", calls=1, hints=["Look at neighbours."], **served)
    assert "Look at neighbours." in str(server.requests[0]["messages"])


def test_events_can_be_followed_without_async_code(served: Served) -> None:
    kinds: list[str] = []
    solve(PROBLEM, scaffold="self_check", calls=1, on_event=lambda event: kinds.append(event.kind), **served)
    assert (kinds[0], kinds[-1]) == ("call.began", "run.finished")


async def test_a_loop_that_is_left_stops_the_calls(server: ModelServer, served: Served) -> None:
    server.pause_s = 0.05
    events = aiter(asolve(PROBLEM, scaffold="self_check", **served))
    await anext(events)
    await events.aclose()  # type: ignore[attr-defined]
    asked = len(server.requests)
    await asyncio.sleep(0.2)
    assert len(server.requests) <= max(1, asked)


def test_a_verifier_that_objects_leads_to_a_correction(server: ModelServer, served: Served) -> None:
    server.answers["You examine a solution of an olympiad problem"] = decision("fail", ("critical", "It does not follow."))
    result = solve(PROBLEM, scaffold="self_check", params={"give_up": 2, "improve": False}, **served)
    assert (result.accepted, bool(result.proof)) == (False, True)
