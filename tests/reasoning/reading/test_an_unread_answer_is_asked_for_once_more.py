"""An unreadable answer is requested again in the same conversation: once, as a call of its own, with an event."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from apps.reasoning.domain.candidate_events import CandidateDrafted, CandidateJudged
from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.events import OutputUnread
from apps.reasoning.domain.generation import Ending, GenerationRequest
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.reading.proofs import STEPS_SCHEMA
from apps.reasoning.scaffolds import nomos, self_check
from apps.reasoning.scaffolds.intern_s1_mo.params import Params
from apps.reasoning.scaffolds.running.hearing import LONGEST_BEFORE
from tests.reasoning.candidates import FAIL, PASS, better, named, score
from tests.reasoning.play import FOLLOWS, Played, play, proof

CHECKED = self_check.Params(accept=1, iterations=3)
MUMBLED = "Step 1 assumes what is to be shown. I do not like it."
UNREAD: dict[str, Any] = {"check/1": MUMBLED, "check/*": PASS, "*": named}


async def checked(table: dict[str, Any], **changes: Any) -> Played:
    return await play(table, CHECKED, scaffold="self_check", **changes)


def judged(run: Played) -> list[CandidateJudged]:
    return [event for event in run.of("candidate.judged") if isinstance(event, CandidateJudged)]


def drafted(run: Played) -> list[CandidateDrafted]:
    return [event for event in run.of("candidate.drafted") if isinstance(event, CandidateDrafted)]


def unread(run: Played) -> list[tuple[str, str, str]]:
    return [(one.call, one.reason, one.again) for one in run.of("output.unread") if isinstance(one, OutputUnread)]


async def test_a_decision_is_asked_for_after_the_examination_and_the_examination_is_its_report() -> None:
    run = await checked({"check/1/again": '{"decision": "fail"}', **UNREAD})
    first = judged(run)[0]
    assert (first.passed, first.call, first.summary) == (False, "check/1/again", MUMBLED)
    assert MUMBLED in run.dispatcher.prompt("correct/1")
    asked = next(one for one in run.dispatcher.requests if one.key == "check/1/again")
    assert [message.role for message in asked.messages] == ["system", "user", "assistant", "user"]
    assert asked.messages[2].content == MUMBLED
    assert unread(run) == [("check/1", "there is no decision", "check/1/again")]


@pytest.mark.parametrize(
    "said", ["fail", "Fail.", "Decision: fail", "<decision>fail</decision>", '```json\n{"decision": "fail"}\n```']
)
async def test_the_second_answer_is_read_in_any_form(said: str) -> None:
    assert judged(await checked({"check/1/again": said, **UNREAD}))[0].passed is False


async def test_a_pass_on_second_asking_next_to_a_critical_error_of_the_first_answer_is_a_fail() -> None:
    first = '<issue severity="critical">It is false.</issue>'
    run = await checked({"check/1/again": "pass", "check/1": first, "check/*": PASS, "*": named})
    assert (judged(run)[0].passed, judged(run)[0].overruled) == (False, True)


async def test_it_is_asked_once_and_stays_unread_after_that() -> None:
    run = await play({"check/*": MUMBLED, "*": named}, self_check.Params(accept=1, iterations=1), scaffold="self_check")
    assert [key for key in run.dispatcher.keys if key.startswith("check")] == ["check/1", "check/1/again"]
    assert (judged(run)[0].passed, judged(run)[0].unscored) == (None, "there is no decision")
    assert [again for _, _, again in unread(run)] == ["check/1/again", ""]


async def test_only_an_engine_that_keeps_to_schemas_is_given_one() -> None:
    in_words = await checked({"check/1/again": "fail", **UNREAD})
    assert all(request.json_schema is None for request in in_words.dispatcher.requests)
    run = await checked({"check/1/again": "fail", **UNREAD}, closing="schema")
    asked = {request.key: request.json_schema for request in run.dispatcher.requests}
    assert asked["check/1"] is None
    assert asked["check/1/again"] == {
        "type": "object",
        "properties": {"decision": {"enum": ["pass", "fail"]}},
        "required": ["decision"],
        "additionalProperties": False,
    }


async def test_only_an_engine_that_ends_by_a_grammar_is_given_an_ending_and_only_for_the_first_answer() -> None:
    run = await checked({"check/1/again": "fail", **UNREAD}, closing="grammar")
    asked = {request.key: (request.ending, request.json_schema is not None) for request in run.dispatcher.requests}
    assert asked["check/1"] == (Ending(tag="decision", values=("pass", "fail")), False)
    assert asked["check/1/again"] == (None, True), "what is unread all the same is asked for under a schema"
    assert asked["solve"] == (None, False), "a whole solution is no closing"
    free = await checked({"check/1/again": "fail", **UNREAD}, closing="schema")
    assert all(request.ending is None for request in free.dispatcher.requests)


async def test_claims_votes_scores_and_choices_have_endings() -> None:
    found: dict[str, Ending | None] = {}
    explored = await play(FOLLOWS, Params(lemma_votes=1, proof_votes=1), closing="grammar")
    table: Any = {"mark/*": score(5), "final/*/c*": better("A"), "*": named}
    table = {"consolidate": '<group number="1">1, 2</group><likeliest>1</likeliest>', **table}
    compared = await play(table, nomos.Params(solutions=2, kept=2), scaffold="nomos", closing="grammar")
    for run in (explored, compared):
        found |= {request.key: request.ending for request in run.dispatcher.requests}
    assert found["s0/r1/reason"] == Ending(tag="claim", values=("complete", "partial"))
    assert found["s0/r1/verify/s0.1/1"] == Ending(tag="verdict", values=("-1", "1", "2", "FORMAT_ERROR"))
    assert found["mark/c1.1"] == Ending(tag="score", values=tuple("01234567"))
    assert found["final/1/c1.1-c1.2/1"] == Ending(tag="better", values=("A", "B"))
    assert found["consolidate"] is None, "groups are no closing of a few values"


async def test_a_server_that_refuses_the_schema_is_asked_in_words() -> None:
    refused = RequestRejected("response_format is not supported")
    run = await checked({"check/1/again": refused, "check/1/again/in_words": "fail", **UNREAD}, closing="schema")
    assert (judged(run)[0].passed, judged(run)[0].call) == (False, "check/1/again/in_words")


async def test_a_solution_that_is_an_echo_is_asked_for_once_more() -> None:
    run = await checked({"solve": echo, "solve/again": proof("By induction."), "check/*": PASS, "*": named})
    first = drafted(run)[0]
    assert (first.steps, first.call, first.read_as) == (("By induction.",), "solve/again", "tags")
    asked = next(one for one in run.dispatcher.requests if one.key == "solve/again")
    assert asked.messages[2].content == "(I only repeated what was asked.)", "a model that sees its echo repeats it"


def echo(request: GenerationRequest) -> str:
    return request.messages[1].content


async def test_a_corrector_that_hands_in_the_given_solution_unchanged_is_asked_to_change_it() -> None:
    table = {"check/1": FAIL, "correct/1": echo, "correct/1/again": proof("By induction."), "check/*": PASS, "*": named}
    run = await checked(table)
    assert drafted(run)[-1].steps == ("By induction.",)
    asked = next(one for one in run.dispatcher.requests if one.key == "correct/1/again")
    assert asked.messages[2].content == "(I only repeated what was asked.)"
    assert asked.messages[3].content.startswith("You handed in the solution that you were given, unchanged.")
    assert unread(run) == [("correct/1", "it hands in the given solution unchanged", "correct/1/again")]


async def test_an_improver_may_leave_the_solution_unchanged() -> None:
    run = await checked({"improve": echo, "check/*": PASS, "*": named})
    first, improved = drafted(run)
    assert (improved.steps, improved.call, improved.read_as) == (first.steps, "improve", "unchanged")
    assert unread(run) == []


EXAMINED = "I checked both steps, and the second one divides by zero."


@pytest.mark.parametrize(
    ("second", "passed", "summary"),
    [
        (f'{{"examination": ["{EXAMINED}", "No."], "decision": "fail"}}', False, EXAMINED),
        (f'{{"examination": "{EXAMINED}", "decision": "fail"}}', False, EXAMINED),
        (f'{EXAMINED}\n\n{{"decision": "fail"}}', False, EXAMINED),
        ('{"examination": ["…", "…"], "decision": "pass"}', None, ""),
        ('{"decision": "pass"}', None, ""),
        ("pass", None, ""),
    ],
)
async def test_a_verifier_that_only_repeats_the_prompt_is_asked_to_examine_and_passes_nothing_blindly(
    second: str, passed: bool | None, summary: str
) -> None:
    run = await checked({"check/1": echo, "check/1/again": second, "check/*": PASS, "*": named}, closing="schema")
    first = judged(run)[0]
    assert (first.passed, first.summary.partition("\n")[0]) == (passed, summary)
    asked = next(one for one in run.dispatcher.requests if one.key == "check/1/again")
    assert asked.json_schema is not None
    assert list(asked.json_schema["properties"]) == ["examination", "decision"]
    assert not Draft202012Validator(asked.json_schema).is_valid({"examination": ["…", "…"], "decision": "pass"})
    assert '{"examination": ["…", "…"], "decision": "pass or fail"}' in asked.messages[3].content
    if passed is None:
        assert "it decides without an examination" in [reason for _, reason, _ in unread(run)]


async def test_where_the_engine_keeps_to_schemas_a_solution_comes_as_a_list_of_steps() -> None:
    steps = '{"steps": ["Both sides are $\\\\frac{1}{2}$.", "So they are equal."]}'
    run = await checked({"solve": "Yes.", "solve/again": steps, "check/*": PASS, "*": named}, closing="schema")
    assert drafted(run)[0].steps == (r"Both sides are $\frac{1}{2}$.", "So they are equal.")
    asked = next(one for one in run.dispatcher.requests if one.key == "solve/again")
    assert asked.json_schema == STEPS_SCHEMA
    assert '{"steps": [' in asked.messages[3].content
    in_words = await checked({"solve": "Yes.", "solve/again": proof("So."), "check/*": PASS, "*": named})
    assert "<proof>" in next(one for one in in_words.dispatcher.requests if one.key == "solve/again").messages[3].content


async def test_groups_come_as_the_solution_that_each_one_agrees_with() -> None:
    table: dict[str, Any] = {
        "mark/*": score(5),
        "consolidate": "I cannot say.",
        "consolidate/again": '{"like": {"1": 1, "2": 2, "3": 1}, "most_likely_right": 3}',
        "final/*/1": better("A"),
        "final/*/2": better("B"),
        "*": named,
    }
    run = await play(table, nomos.Params(solutions=3, kept=3), scaffold="nomos", closing="schema")
    found = run.events["pool/grouped"].model_dump()
    assert (found["groups"], found["chosen"], found["call"]) == ((("c1.1", "c1.3"), ("c1.2",)), 0, "consolidate/again")
    asked = next(one for one in run.dispatcher.requests if one.key == "consolidate/again")
    assert asked.sampling.max_new_tokens < 300, "a short answer leaves the conversation before it its room"
    assert asked.json_schema is not None
    schema = Draft202012Validator(asked.json_schema)
    assert schema.is_valid({"like": {"1": 1, "2": 2, "3": 1}, "most_likely_right": 3})
    for like, right in (({"1": 1, "2": 2}, 1), ({"1": 1, "2": 3, "3": 3}, 1), ({"1": 1, "2": 2, "3": 3}, 4)):
        assert not schema.is_valid({"like": like, "most_likely_right": right})


async def test_a_solution_is_recorded_with_the_way_it_was_read() -> None:
    text = "We show it by induction on $n$.\n\nFor $n = 1$ both sides are 1."
    run = await checked({"solve": text, "check/*": PASS, "*": named})
    assert [one.read_as for one in drafted(run)] == ["whole", "tags"]


async def test_scores_and_choices_are_asked_for_as_well() -> None:
    table: dict[str, Any] = {
        "mark/c1.1/again": '{"score": 7}',
        "mark/c1.1": "Good.",
        "mark/*": score(5),
        "consolidate": '<group number="1">1, 2</group><likeliest>1</likeliest>',
        "final/1/c1.1-c1.2/1/again": '{"better": "B"}',
        "final/1/c1.1-c1.2/1": "Both are fine.",
        "final/*": better("A"),
        "*": named,
    }
    run = await play(table, nomos.Params(solutions=2, kept=2), scaffold="nomos")
    assert run.events["mark/c1.1/score"].model_dump()["score"] == 7
    assert run.events["final/1/c1.1-c1.2/1/judged"].model_dump()["better"] == "c1.2"


@pytest.mark.parametrize(
    ("first", "shown"),
    [("word " * LONGEST_BEFORE, "characters left out …]\n"), ("", "(no answer)"), ("<think>It fails.", "(no answer)")],
)
async def test_the_second_turn_sees_a_long_answer_without_its_middle_and_none_as_none(first: str, shown: str) -> None:
    run = await checked({"check/1/again": "fail", "check/1": first, "check/*": PASS, "*": named})
    asked = next(one for one in run.dispatcher.requests if one.key == "check/1/again")
    assert shown in asked.messages[2].content
    assert len(asked.messages[2].content) < LONGEST_BEFORE + 60


async def test_a_run_taken_up_again_makes_neither_call_twice() -> None:
    table = {"check/1/again": "fail", **UNREAD}
    first = await checked(table)
    second = await checked(table, journal=InMemoryJournal.holding(first.journal.records))
    assert second.dispatcher.keys == []
    assert second.outcome == first.outcome
