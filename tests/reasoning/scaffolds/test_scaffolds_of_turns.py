"""The control flow of the scaffolds that go in turns: traces that show its rules, and models that break them."""

from typing import Any

from apps.reasoning.domain.candidate_events import CandidateDrafted, CandidateJudged, CandidateScored, StateWritten
from apps.reasoning.domain.values import Unscored
from apps.reasoning.scaffolds import reasoning_cache, self_check, solver_verifier_corrector
from tests.reasoning.candidates import FAIL, PASS, decision, named, score
from tests.reasoning.play import Played, final, play, proof


def drafted(run: Played) -> dict[str, tuple[str, ...]]:
    """Candidates with their parents, in the order of their events."""
    return {event.candidate: event.parents for event in run.of("candidate.drafted") if isinstance(event, CandidateDrafted)}


def selected_text(run: Played) -> str:
    return str(run.events["proof/1"].model_dump()["text"])


# --- reasoning cache -------------------------------------------------------------------------------------------------

RC: dict[str, Any] = {"turn/*/solve": named, "turn/*/summarise": lambda request: f"<state>State after {request.key}.</state>"}


async def test_a_turn_of_the_reasoning_cache_sees_the_state_of_the_turn_before_and_nothing_older() -> None:
    run = await play(RC, reasoning_cache.Params(turns=3), scaffold="reasoning_cache")
    assert run.dispatcher.keys == [
        "turn/1/solve",
        "turn/1/summarise",
        "turn/2/solve",
        "turn/2/summarise",
        "turn/3/solve",
    ]
    third = run.dispatcher.prompt("turn/3/solve")
    assert "State after turn/2/summarise." in third
    assert "turn/1" not in third
    assert "what turn/3/solve wrote" in selected_text(run)
    assert drafted(run) == {"c1.1": (), "c2.1": ("c1.1",), "c3.1": ("c2.1",)}
    assert run.outcome.accepted is None


async def test_the_summariser_reads_the_thinking_where_there_is_one() -> None:
    table: dict[str, Any] = {"turn/1/solve": final(proof("Done."), reasoning="I tried induction."), **RC}
    run = await play(table, reasoning_cache.Params(turns=2), scaffold="reasoning_cache")
    assert "I tried induction." in run.dispatcher.prompt("turn/1/summarise")


async def test_a_state_that_cannot_be_read_leaves_the_old_one_and_one_too_long_is_cut() -> None:
    long = "\n\n".join(f"Paragraph {number}: {'word ' * 60}" for number in range(20))
    table: dict[str, Any] = {"turn/1/summarise": f"<state>{long}</state>", "turn/2/summarise": "no tags at all"}
    run = await play({**table, **RC}, reasoning_cache.Params(turns=3, state_words=100), scaffold="reasoning_cache")
    states = [event for event in run.of("state.written") if isinstance(event, StateWritten)]
    assert [event.turn for event in states] == [1]
    assert len(states[0].text) < 900
    assert states[0].text.endswith("is cut off.)")
    assert "Paragraph 0" in run.dispatcher.prompt("turn/3/solve")
    assert (
        run.events["turn/2/summarise/unread"].model_dump()["reason"]
        == "there is no <state>, and it is too short to be read as a whole"
    )


def test_a_structured_state_is_read_as_a_list_or_as_one_text_and_the_form_that_was_shown_is_none() -> None:
    for written in ('{"state": ["We know $x$.", "It is odd."]}', '```json\n{"state": "We know $x$.\\n\\nIt is odd."}\n```'):
        assert reasoning_cache.read_state(final(written)) == "We know $x$.\n\nIt is odd."
    assert reasoning_cache.read_state(final(r'{"state": "We know \(x\)."}')) == r"We know \(x\)."
    shown = reasoning_cache.read_state(final('{"state": ["…", "…"]}'))
    assert isinstance(shown, Unscored)
    assert "form" in shown.reason


async def test_a_last_turn_without_a_solution_leaves_the_newest_that_could_be_read() -> None:
    run = await play({"turn/3/solve": "I give up.", **RC}, reasoning_cache.Params(turns=3), scaffold="reasoning_cache")
    assert "what turn/2/solve wrote" in selected_text(run)


# --- self-check and solver–verifier–corrector ------------------------------------------------------------------------

CHECK: dict[str, Any] = {"solve": named, "improve": named, "correct/*": named}


async def test_self_check_accepts_after_five_passes_in_a_row_and_a_failure_restarts_the_count() -> None:
    table: dict[str, Any] = {"check/3": FAIL, "check/*": PASS}
    run = await play({**CHECK, **table}, self_check.Params(), scaffold="self_check")
    assert run.outcome.accepted is True
    assert [key for key in run.dispatcher.keys if key.startswith(("check", "correct"))] == [
        "check/1", "check/2", "check/3", "correct/1", "check/4", "check/5", "check/6", "check/7", "check/8",
    ]  # fmt: skip
    judged = [event for event in run.of("candidate.judged") if isinstance(event, CandidateJudged)]
    assert [(event.candidate, event.passes, event.failures) for event in judged][:4] == [
        ("c1.2", 1, 0), ("c1.2", 2, 0), ("c1.2", 0, 1), ("c2.1", 1, 0),
    ]  # fmt: skip
    assert drafted(run) == {"c1.1": (), "c1.2": ("c1.1",), "c2.1": ("c1.2",)}
    assert "It does not follow." in run.dispatcher.prompt("correct/1")
    assert "the claim" in run.dispatcher.prompt("correct/1")


async def test_self_check_gives_up_after_ten_failures_in_a_row_without_a_last_correction() -> None:
    run = await play({**CHECK, "check/*": FAIL}, self_check.Params(), scaffold="self_check")
    assert run.outcome.accepted is False
    assert len([key for key in run.dispatcher.keys if key.startswith("check")]) == 10
    assert len([key for key in run.dispatcher.keys if key.startswith("correct")]) == 9
    assert "10 checks in a row failed" in run.outcome.reason


async def test_the_solution_most_often_judged_correct_is_returned_where_none_is_accepted() -> None:
    passed = {"check/2": PASS, "check/3": PASS, "check/6": PASS}
    table: dict[str, Any] = {**passed, "check/*": FAIL}
    params = solver_verifier_corrector.Params(corrections=3)
    run = await play({**CHECK, **table}, params, scaffold="solver_verifier_corrector")
    assert run.outcome.accepted is False
    assert "what correct/1 wrote" in selected_text(run), "it passed twice, the others at most once"
    assert run.dispatcher.keys[:4] == ["solve", "check/1", "correct/1", "check/2"]


async def test_the_first_verifier_and_corrector_read_what_the_solver_wrote_and_the_second_ones_the_rest() -> None:
    table: dict[str, Any] = {"check/3": FAIL, "check/4": FAIL, "correct/1": "nothing", "check/5": FAIL, "check/*": PASS}
    run = await play({**table, **CHECK}, solver_verifier_corrector.Params(), scaffold="solver_verifier_corrector")
    roles = {request.key: request.role for request in run.dispatcher.requests}
    assert {roles[f"check/{number}"] for number in (1, 2, 3, 4)} == {"verifier_1"}, "two passes, two failures of one text"
    assert (roles["correct/1"], roles["correct/2"]) == ("corrector_1", "corrector_1"), "the first correction was not readable"
    assert {roles[f"check/{number}"] for number in (5, 6, 7, 8, 9)} == {"verifier_2"}
    assert roles["correct/3"] == "corrector_2"
    assert run.outcome.accepted is True


async def test_the_roles_of_the_first_pass_are_apart_from_those_of_later_ones() -> None:
    table: dict[str, Any] = {"check/1": FAIL, "check/2": FAIL, "check/*": PASS}
    run = await play({**CHECK, **table}, solver_verifier_corrector.Params(), scaffold="solver_verifier_corrector")
    roles = {request.key: request.role for request in run.dispatcher.requests}
    assert roles["check/1"] == "verifier_1"
    assert roles["correct/1"] == "corrector_1"
    assert {roles["check/2"], roles["check/3"]} == {"verifier_2"}
    assert roles["correct/2"] == "corrector_2"
    assert run.outcome.accepted is True


async def test_a_verifier_that_always_says_yes_accepts_and_one_that_says_nothing_readable_decides_nothing() -> None:
    yes = await play({**CHECK, "check/*": PASS}, solver_verifier_corrector.Params(), scaffold="solver_verifier_corrector")
    assert yes.outcome.accepted is True
    assert len(yes.dispatcher.keys) == 5
    mumble = await play(
        {**CHECK, "check/*": "Nice."}, solver_verifier_corrector.Params(corrections=1), scaffold="solver_verifier_corrector"
    )
    assert mumble.outcome.accepted is None
    assert mumble.outcome.reason == "None of the checks could be read."
    assert len([key for key in mumble.dispatcher.keys if key.startswith("check")]) == 2 * 8


async def test_a_pass_next_to_a_critical_error_is_a_fail_that_is_corrected() -> None:
    table: dict[str, Any] = {"check/1": decision("pass", ("critical", "Step 1 is false.")), "check/*": PASS}
    run = await play({**CHECK, **table}, self_check.Params(accept=2), scaffold="self_check")
    judged = [event for event in run.of("candidate.judged") if isinstance(event, CandidateJudged)]
    assert (judged[0].passed, judged[0].overruled, judged[1].overruled) == (False, True, False)
    assert "Step 1 is false." in run.dispatcher.prompt("correct/1")
    assert run.outcome.accepted is True


async def test_groups_of_fresh_attempts_at_states_follow_the_turns_and_change_nothing_of_the_result() -> None:
    run = await play(RC, reasoning_cache.Params(turns=3), scaffold="reasoning_cache")
    table: dict[str, Any] = {**RC, "state/*": named}
    again = await play(table, reasoning_cache.Params(turns=3, states=2, attempts=4), scaffold="reasoning_cache")
    attempts = [key for key in again.dispatcher.keys if key.startswith("state/")]
    turns = {int(key.split("/")[1]) for key in attempts}
    assert len(attempts) == 8
    assert len(turns) == 2
    assert turns <= {1, 2, 3, 4}, "three turns have four states"
    for turn in turns:
        prompts = {again.dispatcher.prompt(key) for key in attempts if key.startswith(f"state/{turn}/")}
        assert len(prompts) == 1, "they are compared with each other"
        if turn > 1:
            assert f"State after turn/{turn - 1}/summarise." in prompts.pop()
    assert "turn/3/summarise" in again.dispatcher.keys, "the last state too is one to begin from"
    assert selected_text(again) == selected_text(run)
    assert [one for one, parents in drafted(again).items() if one.startswith("c4.") and parents] == []


async def test_attempts_at_states_are_marked_where_that_is_asked_for_and_a_mark_that_cannot_be_read_is_none() -> None:
    table: dict[str, Any] = {**RC, "state/*": named, "mark/c2.1": "I like turtles.", "mark/*": score(5)}
    params = reasoning_cache.Params(turns=1, states=1, attempts=3, marks=True)
    run = await play(table, params, scaffold="reasoning_cache")
    marks = {one.candidate: (one.score, one.scale) for one in run.of("candidate.scored") if isinstance(one, CandidateScored)}
    assert marks == {"c2.1": (None, 7), "c2.2": (5, 7), "c2.3": (5, 7)}
    assert run.outcome.accepted is None


async def test_states_that_are_equal_are_one() -> None:
    table: dict[str, Any] = {"turn/*/summarise": "no tags", "turn/*": named, "state/*": named}
    run = await play(table, reasoning_cache.Params(turns=2, states=3, attempts=2), scaffold="reasoning_cache")
    assert [key for key in run.dispatcher.keys if key.startswith("state/")] == ["state/1/1", "state/1/2"]
