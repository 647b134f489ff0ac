"""The tool `check_formulas` of AlphaApollo: solvers and evaluators hand in a text and read findings."""

import pytest

from apps.reasoning.domain.agent_events import TurnTaken
from apps.reasoning.domain.errors import BackendRefused
from apps.reasoning.domain.generation import ToolProtocol
from apps.reasoning.domain.tools import Execution
from apps.reasoning.domain.values import Value
from apps.reasoning.scaffolds.alpha_apollo.params import Params
from tests.reasoning.agents import Table, follows, report, solution
from tests.reasoning.checked import Checked, CheckingDispatcher, Reply, play_checked, verifier
from tests.reasoning.play import play

ALONE = Params(mode="reasoning", turns=3, check_tool=1)
CHECK = "Let me see.\n<check_formulas>\nWe add: $2+2=5$ and $3+3=6$.\n</check_formulas>"


async def checked(table: Table, params: Value = ALONE, reply: Reply = verifier) -> Checked:
    return await play_checked(follows(table), params, reply, scaffold="alpha_apollo")


def turns(run: Checked) -> list[TurnTaken]:
    return [event for event in run.of("turn.taken") if isinstance(event, TurnTaken)]


async def test_a_model_reads_outcomes_with_the_counterexample_and_the_method() -> None:
    run = await checked({"solve/c1.1/turn/1": CHECK})
    first = turns(run)[0]
    assert (first.action, first.succeeded, first.tool) == ("check_formulas", True, "solve/c1.1/turn/1/check")
    assert first.content == "We add: $2+2=5$ and $3+3=6$."
    prompt = run.dispatcher.prompt("solve/c1.1/turn/2")
    assert "text: `2+2=5` is refuted (4 against 5)." in prompt
    assert "text: `3+3=6` is proved (" in prompt
    assert "0 formula checks left in this conversation." in prompt
    assert "solve/c1.1/turn/1/check" in run.dispatcher.checked


async def test_a_used_up_budget_is_said_and_nothing_is_sent() -> None:
    run = await checked({"solve/c1.1/turn/1": CHECK, "solve/c1.1/turn/2": CHECK})
    second = turns(run)[1]
    assert (second.succeeded, second.tool) == (False, "")
    assert "used up" in second.problem
    assert [key for key in run.dispatcher.checked if key.startswith("solve/")] == ["solve/c1.1/turn/1/check"]


async def test_evaluators_have_it_too() -> None:
    params = Params(rounds=1, evaluators=1, turns=2, stop_early=False, check_tool=1)
    run = await checked({"judge/c1.1/1/turn/1": CHECK, "judge/*": report(1)}, params)
    assert "`2+2=5` is refuted" in run.dispatcher.prompt("judge/c1.1/1/turn/2")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (lambda _: BackendRefused("No fence."), "No fence"),
        (lambda _: Execution(error="timeout", exit_code=None), "took too long"),
    ],
    ids=["off", "timeout"],
)
async def test_a_check_without_an_answer_is_a_failed_tool_call_with_its_reason(reply: Reply, said: str) -> None:
    run = await checked({"solve/c1.1/turn/1": CHECK}, ALONE, reply)
    assert turns(run)[0].succeeded is False
    assert said in run.dispatcher.prompt("solve/c1.1/turn/2")
    assert run.outcome.proof


async def test_a_text_without_formulas_is_not_sent() -> None:
    run = await checked({"solve/c1.1/turn/1": "<check_formulas>\nIt is so.\n</check_formulas>"})
    assert "no formula that could be tested" in run.dispatcher.prompt("solve/c1.1/turn/2")
    assert [key for key in run.dispatcher.checked if key.startswith("solve/")] == []


async def test_without_the_option_the_tag_is_text_and_the_prompt_does_not_name_it() -> None:
    run = await checked({"solve/c1.1/turn/1": f"{CHECK}\n{solution('It holds.')}"}, Params(mode="reasoning", turns=3))
    assert turns(run)[0].action == "answer"
    assert "check_formulas" not in run.dispatcher.prompt("solve/c1.1/turn/1")


@pytest.mark.parametrize("tools", ["text", "native"])
async def test_both_protocols_offer_it(tools: ToolProtocol) -> None:
    run = await play(follows({}), ALONE, scaffold="alpha_apollo", tools=tools)
    request = run.dispatcher.requests[0]
    assert "check_formulas" in run.dispatcher.prompt(request.key)
    assert ("check_formulas" in {tool.name for tool in request.tools}) == (tools == "native")
    stops = request.sampling.stop
    assert "</check_formulas>" in stops


async def test_a_function_call_is_the_same_check() -> None:
    called = '<tool_call>\n{"name": "check_formulas", "arguments": {"text": "We add: $2+2=5$."}}\n</tool_call>'
    run = await checked({"solve/c1.1/turn/1": called})
    assert "`2+2=5` is refuted" in run.dispatcher.prompt("solve/c1.1/turn/2")


async def test_resumed_after_the_check_it_is_not_made_again() -> None:
    whole = await checked({"solve/c1.1/turn/1": CHECK})
    again = await play_checked(
        follows({"solve/c1.1/turn/1": CHECK}), ALONE, scaffold="alpha_apollo", journal=whole.journal.cut(2)
    )
    dispatcher: CheckingDispatcher = again.dispatcher
    assert "solve/c1.1/turn/1/check" not in dispatcher.checked
    assert again.outcome == whole.outcome
