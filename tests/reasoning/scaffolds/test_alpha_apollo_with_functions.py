"""AlphaApollo where the model calls functions: the same course, the same events, and tags for a model that calls none."""

import pytest

from apps.reasoning.domain.agent_events import TurnTaken
from apps.reasoning.domain.errors import NeedsFork
from apps.reasoning.domain.generation import ToolProtocol
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.alpha_apollo.functions import FUNCTIONS
from apps.reasoning.scaffolds.alpha_apollo.params import Params
from tests.reasoning.agents import Table, ask, called, follows, python, report, solution
from tests.reasoning.play import Played, play

ALONE = Params(mode="reasoning", turns=3)
CODE = called("python_code", {"code": "print(2+2)"})
QUESTION = called("local_rag", {"library": "sympy", "query": "solve an equation"})


async def _play(table: Table, params: Params = ALONE, tools: ToolProtocol = "native") -> Played:
    return await play(follows(table), params, scaffold="alpha_apollo", tools=tools)


def _turns(run: Played) -> list[TurnTaken]:
    return [event for event in run.of("turn.taken") if isinstance(event, TurnTaken)]


async def test_calls_and_blocks_lead_to_the_same_events() -> None:
    native = await _play({"solve/c1.1/turn/1": CODE, "solve/c1.1/turn/2": QUESTION})
    tagged = await _play({"solve/c1.1/turn/1": python("print(2+2)"), "solve/c1.1/turn/2": ask()}, tools="text")
    assert [turn.action for turn in _turns(native)] == ["python_code", "local_rag", "answer"]
    assert (_turns(native)[0].content, _turns(native)[0].response) == ("print(2+2)", "4")
    assert [(turn.action, turn.response, turn.succeeded) for turn in _turns(native)] == [
        (turn.action, turn.response, turn.succeeded) for turn in _turns(tagged)
    ]
    assert {event.kind for _, _, event in native.journal.events} == {event.kind for _, _, event in tagged.journal.events}


async def test_functions_are_offered_in_every_turn_but_the_last_and_to_no_role_without_tools() -> None:
    run = await _play({"solve/c1.1/turn/1": CODE, "solve/c1.1/turn/2": QUESTION})
    offered = {request.key: request.tools for request in run.dispatcher.requests if request.job == "generate"}
    assert offered["solve/c1.1/turn/1"] == offered["solve/c1.1/turn/2"] == FUNCTIONS
    assert offered["solve/c1.1/turn/3"] == ()
    assert {tools for key, tools in offered.items() if "/lookup/" in key} == {()}
    tagged = await _play({}, tools="text")
    assert {request.tools for request in tagged.dispatcher.requests} == {()}


async def test_the_prompt_names_functions_and_says_what_to_write_without_them() -> None:
    native = (await _play({"solve/c1.1/turn/1": CODE})).dispatcher.prompt("solve/c1.1/turn/1")
    assert "call one function" in native
    assert "Where calling functions is not possible" in native
    assert "<answer>" in native
    tagged = (await _play({}, tools="text")).dispatcher.prompt("solve/c1.1/turn/1")
    assert "call one function" not in tagged


async def test_later_turns_read_of_a_call_in_plain_words() -> None:
    prompt = (await _play({"solve/c1.1/turn/1": f"Let us see.\n{CODE}"})).dispatcher.prompt("solve/c1.1/turn/2")
    assert "Let us see.\n\nCalled python_code with:\nprint(2+2)\n\nTool response:\n4" in prompt
    assert "<tool_call>" not in prompt


async def test_a_model_that_ignores_its_functions_is_read_by_its_tags() -> None:
    run = await _play({"solve/c1.1/turn/1": python("print(2+2)")})
    assert [turn.action for turn in _turns(run)] == ["python_code", "answer"]
    assert run.outcome.proof


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CODE + QUESTION, "there are 2 actions"),
        (called("python_code", '{"code": "print(1)'), "are not valid JSON"),
        (called("shell", {"command": "ls"}), "there is no function shell"),
        ("I shall compute something.", "there is no action"),
    ],
)
async def test_an_impossible_call_is_answered_and_counted_and_nothing_runs(text: str, said: str) -> None:
    run = await _play({"solve/c1.1/turn/1": text})
    first = _turns(run)[0]
    assert said in first.problem
    assert (first.action, first.succeeded) == ("none", False)
    assert said in run.dispatcher.prompt("solve/c1.1/turn/2")
    assert run.of("tool.began") == []
    assert run.outcome.proof


async def test_a_call_in_the_last_turn_runs_nothing() -> None:
    run = await _play({"solve/c1.1/turn/*": CODE}, Params(mode="reasoning", turns=2))
    assert [turn.tool for turn in _turns(run)] == ["solve/c1.1/turn/1/python", ""]
    assert "must end with <answer>" in _turns(run)[1].problem


async def test_evaluators_call_functions_too() -> None:
    table: Table = {"judge/c1.1/1/turn/1": CODE, "judge/c1.1/1/turn/2": report(1), "solve/c1.1/turn/1": solution("So it is.")}
    run = await _play(table, Params(rounds=1, evaluators=1, stop_early=False))
    asked = {request.key: request.tools for request in run.dispatcher.requests}
    assert asked["judge/c1.1/1/turn/1"] == FUNCTIONS
    assert [turn.role for turn in _turns(run) if turn.action == "python_code"] == ["evaluator"]


async def test_resumed_at_every_call_it_ends_as_the_uninterrupted_one() -> None:
    table: Table = {"solve/c1.1/turn/1": CODE, "judge/c1.1/*/turn/1": QUESTION}
    params = Params(rounds=2, evaluators=2, turns=3)
    whole = await _play(table, params)
    for cut in range(len(whole.journal.records) + 1):
        journal = whole.journal.cut(cut)
        again = await play(follows(table), params, scaffold="alpha_apollo", journal=journal, tools="native")
        assert again.outcome == whole.outcome
        assert again.events == whole.events, cut
        assert len(again.dispatcher.requests) == len(whole.journal.records) - cut


async def test_answers_to_other_tools_are_not_taken_for_answers_to_these() -> None:
    tagged = await _play({}, tools="text")
    with pytest.raises(NeedsFork):
        await play(follows({}), ALONE, scaffold="alpha_apollo", journal=tagged.journal.cut(1), tools="native")


@pytest.mark.parametrize("method", sorted(set(SCAFFOLDS) - {"alpha_apollo"}))
async def test_scaffolds_without_tools_offer_none(method: str) -> None:
    params = SCAFFOLDS[method].read_params({})
    run = await play({"*": "I like turtles."}, params, scaffold=method, tools="native")
    assert run.dispatcher.requests
    assert {request.tools for request in run.dispatcher.requests} == {()}
