"""The tool `check_formulas` of the Intern-S1-MO reasoner: it hands in a text before it ends its round, and reads findings."""

import pytest

from apps.reasoning.domain.agent_events import TurnTaken
from apps.reasoning.domain.errors import BackendRefused
from apps.reasoning.domain.generation import ToolProtocol
from apps.reasoning.domain.tools import Execution
from apps.reasoning.domain.values import Value
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.intern_s1_mo.params import Params
from tests.reasoning.agents import Table
from tests.reasoning.checked import Checked, Reply, play_checked, verifier
from tests.reasoning.play import FOLLOWS, final, lemma, play

CHECKS = Params(rounds=1, lemma_votes=1, proof_votes=1, revisions=0, check_tool=1)
CHECK = "Let me see.\n<check_formulas>\nWe add: $2+2=5$ and $3+3=6$.\n</check_formulas>"
END = "So $2+2=4$.\n<claim>complete</claim>"
ASKS: Table = {"s0/r1/reason/turn/1": CHECK, "s0/r1/reason/turn/2": END}


async def checked(table: Table, params: Value = CHECKS, reply: Reply = verifier) -> Checked:
    return await play_checked({**table, **FOLLOWS}, params, reply)


def turns(run: Checked) -> list[TurnTaken]:
    return [event for event in run.of("turn.taken") if isinstance(event, TurnTaken)]


def reasoned(run: Checked) -> list[str]:
    return [key for key in run.dispatcher.keys if "/reason" in key]


async def test_it_reads_outcomes_and_continues_in_the_next_turn() -> None:
    run = await checked(ASKS)
    first, second = turns(run)
    assert (first.role, first.action, first.succeeded) == ("reasoner", "check_formulas", True)
    assert (second.action, second.succeeded, second.problem) == ("claim", None, "")
    assert reasoned(run) == ["s0/r1/reason/turn/1", "s0/r1/reason/turn/2"]
    prompt = run.dispatcher.prompt("s0/r1/reason/turn/2")
    assert "text: `2+2=5` is refuted (4 against 5)." in prompt
    assert "text: `3+3=6` is proved (" in prompt
    assert "0 formula checks left in this conversation." in prompt
    assert "Let me see." in prompt
    assert "This is the last turn" in prompt
    assert "s0/r1/reason/turn/1/check" in run.dispatcher.checked


async def test_all_turns_and_findings_are_the_text_of_the_round() -> None:
    prompt = (await checked(ASKS)).dispatcher.prompt("s0/r1/summarise")
    assert prompt.index("Let me see.") < prompt.index("`2+2=5` is refuted") < prompt.index("So $2+2=4$.")


async def test_a_round_that_ends_at_once_has_one_turn_and_its_claim_counts() -> None:
    run = await checked({"s0/r1/reason/turn/1": END})
    assert reasoned(run) == ["s0/r1/reason/turn/1"]
    assert "complete solution" in {event.stop for event in run.of("round.ended")}.pop()
    assert run.outcome.accepted


async def test_a_claim_after_a_block_ends_the_round() -> None:
    run = await checked({"s0/r1/reason/turn/1": f"{CHECK}\nIt is refuted.\n<claim>partial</claim>"})
    assert [event.action for event in turns(run)] == ["claim"]
    assert "s0/r1/reason/turn/1/check" not in run.dispatcher.checked


async def test_an_unread_end_is_asked_for_once_more_and_ends_the_round() -> None:
    run = await checked({"s0/r1/reason/turn/1": "It holds.", "s0/r1/reason/turn/1/again": "I like turtles."})
    assert reasoned(run) == ["s0/r1/reason/turn/1", "s0/r1/reason/turn/1/again"]
    assert (turns(run)[0].action, turns(run)[0].succeeded) == ("claim", None)
    assert turns(run)[0].problem
    assert "It holds." in run.dispatcher.prompt("s0/r1/summarise")


async def test_a_block_in_the_last_turn_is_not_tested_and_the_claim_is_asked_for() -> None:
    run = await checked({"s0/r1/reason/turn/2/again": '{"claim": "partial"}', "s0/r1/reason/turn/*": CHECK})
    assert reasoned(run)[-1] == "s0/r1/reason/turn/2/again"
    assert [key for key in run.dispatcher.checked if "/reason/" in key] == ["s0/r1/reason/turn/1/check"]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (lambda _: BackendRefused("No fence."), "No fence"),
        (lambda _: Execution(error="timeout", exit_code=None), "took too long"),
    ],
    ids=["off", "timeout"],
)
async def test_a_check_without_an_answer_is_a_failed_tool_call_with_its_reason(reply: Reply, said: str) -> None:
    run = await checked(ASKS, CHECKS, reply)
    assert turns(run)[0].succeeded is False
    assert said in run.dispatcher.prompt("s0/r1/reason/turn/2")
    assert run.outcome.accepted


async def test_a_text_that_is_too_long_is_refused_and_the_round_continues() -> None:
    long = f"<check_formulas>\n{'We add: $2+2=5$. ' * 400}\n</check_formulas>"
    run = await checked({"s0/r1/reason/turn/1": long, "s0/r1/reason/turn/2": END})
    assert "more than 6,000 characters" in turns(run)[0].problem
    assert not [key for key in run.dispatcher.checked if "/reason/" in key]


async def test_results_of_a_lost_summary_name_the_turn_that_ended_the_round() -> None:
    work = "Result 1. The sum is even.\nProof.\n1. It is plain.\n<claim>partial</claim>"
    run = await checked({**ASKS, "s0/r1/reason/turn/2": work, "s0/r1/summarise": "no"})
    assert {event.call for event in run.of("lemma.proposed")} <= {"s0/r1/reason/turn/2"}


@pytest.mark.parametrize("tools", ["text", "native"])
async def test_both_protocols_offer_it_until_the_last_turn(tools: ToolProtocol) -> None:
    called = '<tool_call>\n{"name": "check_formulas", "arguments": {"text": "We add: $2+2=5$."}}\n</tool_call>'
    said = {"native": called, "text": CHECK}[tools]
    table = {"*/check": BackendRefused("No fence."), **ASKS, "s0/r1/reason/turn/1": said, **FOLLOWS}
    run = await play(table, CHECKS, tools=tools)
    first, last = (one for one in run.dispatcher.requests if "/reason/" in one.key and one.job == "generate")
    assert [tool.name for tool in first.tools] == (["check_formulas"] if tools == "native" else [])
    assert "</check_formulas>" in first.sampling.stop
    assert last.tools == ()
    assert "</check_formulas>" not in last.sampling.stop


async def test_the_engine_leaves_the_closing_tag_out() -> None:
    stopped = final(CHECK.removesuffix("</check_formulas>"))
    run = await checked({**ASKS, "s0/r1/reason/turn/1": stopped})
    assert "`2+2=5` is refuted" in run.dispatcher.prompt("s0/r1/reason/turn/2")


async def test_resumed_at_every_record_it_ends_alike_and_checks_nothing_twice() -> None:
    table = {**ASKS, "s0/r1/summarise": lemma(1, "The sum is $S$.", "Write it down."), **FOLLOWS}
    whole = await play_checked(table, CHECKS)
    own = {record.key for record in whole.journal.records if record.key.endswith("/check")}
    assert own == {"s0/r1/reason/turn/1/check"}
    for kept in range(len(whole.journal.records) + 1):
        journal = whole.journal.cut(kept)
        done = {record.key for record in journal.records}
        again = await play_checked(table, CHECKS, journal=journal)
        assert again.outcome == whole.outcome
        assert {key for key in again.dispatcher.checked if key.endswith("/check")} == own - done


async def test_without_the_option_the_round_is_one_call_and_its_prompt_names_no_tool() -> None:
    run = await checked({"s0/r1/reason": f"{CHECK}\n{END}"}, CHECKS.model_copy(update={"check_tool": 0}))
    assert reasoned(run) == ["s0/r1/reason"]
    assert turns(run) == []
    assert "check_formulas" not in run.dispatcher.prompt("s0/r1/reason")
    assert SCAFFOLDS["intern_s1_mo"].params.model_fields["check_tool"].default == 0


async def test_the_estimate_counts_the_turns() -> None:
    scaffold = SCAFFOLDS["intern_s1_mo"]
    plain, tool = (
        {one.role: one for one in scaffold.estimate(params).roles}["reasoner"]
        for params in (Params(rounds=2), Params(rounds=2, check_tool=3))
    )
    assert (plain.calls_max, tool.calls_max) == (2, 8)
    assert (plain.calls_expected, tool.calls_expected) == (1, 2)
