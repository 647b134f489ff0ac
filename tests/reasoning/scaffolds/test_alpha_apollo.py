"""AlphaApollo's control flow: turns with tools, whatever a model does in them, and the rounds with their memory."""

import pytest

from apps.reasoning.domain.agent_events import MemoryStored, TurnTaken
from apps.reasoning.domain.candidate_events import CandidateDrafted, PoolKept
from apps.reasoning.domain.errors import BackendRefused
from apps.reasoning.domain.events import ProofDrafted
from apps.reasoning.scaffolds.alpha_apollo.params import Params
from apps.reasoning.scaffolds.running.turns import MOST_SHOWN
from tests.reasoning.agents import Table, ask, follows, printed, python, raised, report, solution
from tests.reasoning.play import Answer, Played, kinds, play

ALONE = Params(mode="reasoning", turns=3)


async def _play(table: Table, params: Params = ALONE) -> Played:
    return await play(follows(table), params, scaffold="alpha_apollo")


def _turns(run: Played) -> list[TurnTaken]:
    return [event for event in run.of("turn.taken") if isinstance(event, TurnTaken)]


async def test_a_conversation_continues_until_the_answer() -> None:
    run = await _play({"solve/c1.1/turn/1": python("print(2+2)"), "solve/c1.1/turn/2": ask()})
    assert [(turn.action, turn.succeeded) for turn in _turns(run)] == [
        ("python_code", True),
        ("local_rag", True),
        ("answer", None),
    ]
    prompt = run.dispatcher.prompt("solve/c1.1/turn/3")
    assert "Tool response:\n4" in prompt
    assert "Tool response:\nCall sympy.solve." in prompt
    assert "This is the last turn: only <answer> is possible now." in prompt
    assert (run.outcome.accepted, run.outcome.ended_by) == (None, "exhausted")
    drafted = run.of("proof.drafted")[0]
    assert isinstance(drafted, ProofDrafted)
    assert drafted.steps == ("This is what solve/c1.1/turn/3 wrote.", "So the claim holds.")


async def test_the_trace_of_one_turn_with_a_tool() -> None:
    run = await _play({"solve/c1.1/turn/1": python("print(2+2)")})
    assert kinds(run.journal.events)[:5] == [
        ("solve/c1.1/turn/1/began", "call.began"),
        ("solve/c1.1/turn/1/ended", "call.ended"),
        ("solve/c1.1/turn/1/python/began", "tool.began"),
        ("solve/c1.1/turn/1/python/ended", "tool.ended"),
        ("solve/c1.1/turn/1/taken", "turn.taken"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I like turtles.", "there is no action"),
        (python("print(1)") + python("print(2)"), "there are 2 actions"),
        (python("print(1)") + solution("It holds."), "there are 2 actions"),
        ("<python_code>\nprint('<python_code>')\n<local_rag>", "opened and not closed"),
        ("<python_code>\n \n</python_code>", "is empty"),
        ("<think>And again and again", "never ended"),
        ('<local_rag>{"library": "sympy"}</local_rag>', "asks nothing"),
        ('<local_rag>{"library": }</local_rag>', "not valid"),
    ],
)
async def test_a_turn_that_is_no_action_is_answered_and_counted_and_nothing_runs(text: str, said: str) -> None:
    run = await _play({"solve/c1.1/turn/1": text})
    first = _turns(run)[0]
    assert said in first.problem
    assert first.succeeded is False
    assert said in run.dispatcher.prompt("solve/c1.1/turn/2")
    assert run.of("tool.began") == []
    assert run.outcome.proof


async def test_the_last_turn_must_answer() -> None:
    run = await _play({"solve/c1.1/turn/*": python("print(1)")})
    assert [turn.tool for turn in _turns(run)] == ["solve/c1.1/turn/1/python", "solve/c1.1/turn/2/python", ""]
    assert "must end with <answer>" in _turns(run)[2].problem
    assert run.outcome.ended_by == "nothing-readable"


async def test_code_is_repaired_by_rule_and_every_repair_is_reported() -> None:
    run = await _play({"solve/c1.1/turn/1": python("```python\n  print(“2+2”)\n```")})
    asked = next(request for request in run.dispatcher.requests if request.job == "python")
    assert asked.messages[0].content == 'print("2+2")'
    assert len(_turns(run)[0].repairs) == 3
    assert "Before running" in run.dispatcher.prompt("solve/c1.1/turn/2")


async def test_looping_code_is_a_response_and_the_run_continues() -> None:
    stopped = printed("1\n2\n", error="timeout", exit_code=None)
    run = await _play({"solve/c1.1/turn/1": python("while True: pass"), "*/python": stopped})
    assert _turns(run)[0].succeeded is False
    assert "took too long" in run.dispatcher.prompt("solve/c1.1/turn/2")
    assert run.outcome.proof


async def test_a_response_of_fifty_megabytes_is_cut_everywhere() -> None:
    run = await _play({"solve/c1.1/turn/1": python("print('x' * 50_000_000)"), "*/python": printed("x" * 50_000_000)})
    assert len(_turns(run)[0].response) < MOST_SHOWN + 100
    assert len(run.dispatcher.prompt("solve/c1.1/turn/2")) < 20_000
    assert "characters left out" in _turns(run)[0].response


async def test_an_error_of_a_library_call_brings_one_look_into_its_documentation() -> None:
    wrong = raised("AttributeError: module 'sympy' has no attribute 'slove'")
    run = await _play({"solve/c1.1/turn/1": python("import sympy\nsympy.slove(1)"), "*/python": wrong})
    lookup = _turns(run)[0].lookup
    assert lookup is not None
    assert (lookup.library, lookup.sources) == ("sympy", ("sympy.solve",))
    assert "From the documentation:\nCall sympy.solve." in run.dispatcher.prompt("solve/c1.1/turn/2")


async def test_an_error_of_the_code_itself_brings_none() -> None:
    run = await _play(
        {"solve/c1.1/turn/1": python("import sympy\n1/0"), "*/python": raised("ZeroDivisionError: division by zero")}
    )
    assert _turns(run)[0].lookup is None
    assert not [request for request in run.dispatcher.requests if request.job == "search"]


async def test_without_assistants_rules_rewrite_and_passages_are_shown_as_they_are() -> None:
    params = Params(mode="reasoning", assistants=False)
    run = await _play({"solve/c1.1/turn/1": ask("solve $x^2=4$ for x symbolically")}, params)
    search = next(request for request in run.dispatcher.requests if request.job == "search")
    assert '"query":"solve for x symbolically"' in search.messages[0].content
    assert "sympy.solve(f, *symbols) [sympy]" in run.dispatcher.prompt("solve/c1.1/turn/2")
    assert [request.role for request in run.dispatcher.requests if request.job == "generate"] == ["solver", "solver"]


@pytest.mark.parametrize(("hits", "said"), [(printed('{"hits": []}'), "Nothing was found"), (printed("?"), "cannot be read")])
async def test_a_search_that_gives_nothing_says_so(hits: Answer, said: str) -> None:
    run = await _play({"solve/c1.1/turn/1": ask(), "*/search": hits})
    assert said in run.dispatcher.prompt("solve/c1.1/turn/2")


async def test_if_code_execution_is_off_the_model_is_informed_once_and_nothing_halts() -> None:
    off = BackendRefused("Code execution is off: no fence holds. To mend it: install bubblewrap.")
    run = await _play({"solve/c1.1/turn/[12]": python("print(1)"), "*/python": off})
    assert [turn.problem for turn in _turns(run)] == ["code execution is off", "code execution is off", ""]
    assert "install bubblewrap" in run.dispatcher.prompt("solve/c1.1/turn/2")
    assert len([request for request in run.dispatcher.requests if request.job == "python"]) == 1
    assert run.outcome.proof


async def test_history_holds_the_newest_turns_only() -> None:
    run = await _play({"solve/c1.1/turn/[123]": ask("a")}, Params(mode="reasoning", turns=4, history=2))
    prompt = run.dispatcher.prompt("solve/c1.1/turn/4")
    assert ("Turn 1\n" in prompt, "Turn 2\n" in prompt, "Turn 3\n" in prompt) == (False, True, True)


# --- evolution -------------------------------------------------------------------------------------------------------


def _evolved(run: Played) -> list[MemoryStored]:
    return [event for event in run.of("memory.stored") if isinstance(event, MemoryStored)]


async def test_a_round_solves_condenses_judges_sums_up_and_remembers() -> None:
    table = {"judge/c1.1/1/*": report(0), "judge/c1.1/2/*": report(0), "judge/c1.1/3/*": "unread"}
    run = await _play(table, Params(rounds=1, evaluators=5, turns=2, stop_early=False))
    stored = _evolved(run)[0]
    assert (stored.ayes, stored.valid, stored.of, stored.correct) == (2, 4, 5, None)
    assert stored.condensed == "1. Set up. 2. Computed: 4."
    assert "The solution is" not in "".join(run.dispatcher.keys)
    assert run.outcome.accepted is None
    assert "2 of 4" in run.outcome.reason


@pytest.mark.parametrize(("readable", "correct"), [(1, None), (2, None), (3, True)])
@pytest.mark.parametrize("value", [0, 1])
async def test_a_panel_that_is_mostly_unreadable_decides_nothing(readable: int, correct: bool | None, value: int) -> None:
    table: dict[str, Answer] = {f"judge/c1.1/{index}/*": report(value) for index in range(1, readable + 1)}
    run = await _play({**table, "judge/*": "unread"}, Params(rounds=1, evaluators=5, turns=1, stop_early=False))
    expected = correct and bool(value)
    assert _evolved(run)[0].correct is expected
    assert run.outcome.accepted is expected
    if correct is None:
        assert (
            f"{value * readable} of {readable} evaluators found it correct, but only {readable} of 5 reports"
            in run.outcome.reason
        )


async def test_the_majority_decides_and_its_reports_alone_are_summed_up() -> None:
    table = {"judge/c1.1/1/*": report(1, "It is fine."), "judge/c1.1/*": report(0, "Step 2 fails for $n=3$.")}
    run = await _play(table, Params(rounds=1, evaluators=3, turns=2))
    assert _evolved(run)[0].correct is False
    prompt = run.dispatcher.prompt("sum-up/c1.1")
    assert "The solution is incorrect." in prompt
    assert ("Step 2 fails" in prompt, "It is fine." in prompt) == (True, False)
    assert run.outcome.accepted is False


async def test_the_next_round_sees_the_best_memories_the_correct_ones_first_then_the_shorter() -> None:
    table = {
        "condense/c1.1": "<checkpoints>long and wrong</checkpoints>",
        "condense/c2.1": "<checkpoints>right but quite long</checkpoints>",
        "condense/c3.1": "<checkpoints>right</checkpoints>",
        "judge/c1.1/*": report(0),
    }
    run = await _play(table, Params(rounds=4, evaluators=1, memories=2, turns=1, stop_early=False))
    kept = [event for event in run.of("pool.kept") if isinstance(event, PoolKept)]
    assert [event.kept for event in kept[:3]] == [("c1.1",), ("c2.1", "c1.1"), ("c3.1", "c2.1")]
    last = [event for event in run.of("candidate.drafted") if isinstance(event, CandidateDrafted)][-1]
    assert (last.parents, last.made_as) == (("c3.1", "c2.1"), "improvement")
    prompt = run.dispatcher.prompt("solve/c4.1/turn/1")
    assert "right but quite long" in prompt
    assert "long and wrong" not in prompt
    assert "judged correct (correct by 1 of 1 evaluators)" in prompt


async def test_a_solution_that_two_panels_pass_unanimously_ends_the_run() -> None:
    run = await _play({}, Params(rounds=5, evaluators=2, turns=1))
    assert len(_evolved(run)) == 1
    assert (run.outcome.accepted, run.outcome.ended_by) == (True, "accepted")
    assert "in two panels" in run.outcome.reason


async def test_one_objection_in_the_second_panel_and_the_run_continues() -> None:
    run = await _play({"judge/*/4/*": report(0)}, Params(rounds=2, evaluators=2, turns=1))
    assert len(_evolved(run)) == 2
    assert run.outcome.accepted is True
    assert "3 of 4" in run.outcome.reason


async def test_the_paper_makes_all_rounds() -> None:
    run = await _play({}, Params(rounds=3, evaluators=2, turns=1, stop_early=False))
    assert len(_evolved(run)) == 3


async def test_a_report_must_end_with_its_judgement() -> None:
    quoted = "<report>The text boxes \\boxed{1} itself.\nIt is wrong all the same.</report>"
    run = await _play({"judge/*": quoted}, Params(rounds=1, evaluators=2, turns=1))
    assert (_evolved(run)[0].valid, _evolved(run)[0].correct) == (0, None)
    assert "None of the evaluators' reports could be read." in run.outcome.reason


async def test_solvers_of_a_round_work_from_the_same_memory_each_in_its_own_role() -> None:
    run = await _play({"judge/*": report(0)}, Params(rounds=2, evaluators=1, threads=3, turns=1))
    roles = {request.key: request.role for request in run.dispatcher.requests if request.key.startswith("solve/")}
    assert [roles[f"solve/c1.{n}/turn/1"] for n in (1, 2, 3)] == ["solver", "solver_2", "solver_3"]
    second = [event for event in run.of("candidate.drafted") if isinstance(event, CandidateDrafted) and event.round == 2]
    assert [event.parents for event in second] == [("c1.1", "c1.2", "c1.3")] * 3


async def test_a_judge_that_always_says_yes_is_believed_no_more_than_it_is_asked() -> None:
    run = await _play({"judge/*": report(1, "Yes.")}, Params(rounds=3, evaluators=5, turns=1))
    assert run.outcome.reason == "Accepted: 10 of 10 evaluators found it correct, in two panels."


async def test_unreadable_checkpoints_leave_the_solution_itself_in_the_memory() -> None:
    run = await _play({"condense/*": "no tags", "sum-up/*": "no tags"}, Params(rounds=1, evaluators=2, turns=1))
    stored = _evolved(run)[0]
    assert stored.condensed.startswith("Step 1. This is what solve/c1.1/turn/1 wrote.")
    assert (stored.condensed_by, stored.judged_by) == ("", "")
    assert {event.model_dump()["role"] for event in run.of("output.unread")} == {"abstractor", "summarizer"}
