"""AlphaApollo asks again under a schema: an action or a list of texts as JSON, read as far as a token limit lets it go."""

import json
from typing import Any

import pytest

from apps.reasoning.domain.agent_events import MemoryStored, TurnTaken
from apps.reasoning.domain.candidate_events import CandidateDrafted, CandidateScored
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.turns.turn_forms import Texts, completed, read_texts, read_turn_form, turn_schema, without_loop
from apps.reasoning.scaffolds.alpha_apollo.params import Params
from tests.reasoning.agents import follows
from tests.reasoning.play import Answer, Played, final, play

ALONE = Params(mode="reasoning", turns=2)
JUDGED = Params(rounds=1, evaluators=1, turns=2, stop_early=False)
AIMLESS = "Let me think."
#: What SmolLM2 (135M) wrote as its first turn.
SMOL = "\nTurn 2 of at most 3. Later turns will follow."


async def played(table: dict[str, Answer], params: Params) -> Played:
    return await play(follows(table), params, scaffold="alpha_apollo", closing="schema")


def turns(run: Played) -> list[tuple[str, str, str]]:
    return [(one.call, one.action, one.content) for one in run.of("turn.taken") if isinstance(one, TurnTaken)]


async def test_code_comes_line_by_line_and_runs() -> None:
    table: dict[str, Answer] = {
        "solve/c1.1/turn/1": SMOL,
        "solve/c1.1/turn/1/again": '{"code": ["for n in [1]:", "    print(\\"a\\\\n\\")"]}',
    }
    run = await played(table, ALONE)
    assert turns(run)[0] == ("solve/c1.1/turn/1/again", "python_code", 'for n in [1]:\n    print("a\\n")')
    asked = next(one for one in run.dispatcher.requests if one.key == "solve/c1.1/turn/1/again")
    assert [sorted(one["properties"]) for one in (asked.json_schema or {})["anyOf"]] == [["steps"], ["code"]]


async def test_what_only_repeats_the_words_of_the_question_is_nothing() -> None:
    table: dict[str, Answer] = {
        "solve/c1.1/turn/1": AIMLESS,
        "solve/c1.1/turn/1/again": '{ "steps": [ "to run Python", "code"] }',
    }
    run = await played(table, ALONE)
    (first, *_) = (one for one in run.of("turn.taken") if isinstance(one, TurnTaken))
    assert (first.action, first.problem) == ("none", "it only repeats words of the question")


@pytest.mark.parametrize(
    ("text", "reason", "steps", "way"),
    [
        (
            '{"steps": ["Set it up as the sum of two parts.", "So $\\\\frac{1}{2}$."]}',
            "stop",
            ("Set it up as the sum of two parts.", "So $\\frac{1}{2}$."),
            "tags",
        ),
        (
            '{"steps": ["Set it up as the sum of two parts.", "So it ho',
            "length",
            ("Set it up as the sum of two parts.", "So it ho"),
            "cut",
        ),
    ],
)
async def test_steps_are_handed_in_also_where_they_were_cut_off(
    text: str, reason: Any, steps: tuple[str, ...], way: str
) -> None:
    table: dict[str, Answer] = {"solve/c1.1/turn/1": AIMLESS, "solve/c1.1/turn/1/again": final(text, finish_reason=reason)}
    run = await played(table, ALONE)
    (drafted,) = (one for one in run.of("candidate.drafted") if isinstance(one, CandidateDrafted))
    assert (drafted.steps, drafted.read_as) == (steps, way)


async def test_a_report_without_a_judgement_gets_it_from_the_second_answer() -> None:
    table: dict[str, Answer] = {
        "judge/c1.1/1/turn/1": final(
            "Step 2 holds for all $n$, as the table of small cases shows, and then", finish_reason="length"
        ),
        "judge/c1.1/1/turn/1/again": '{"judgement": "correct"}',
    }
    run = await played(table, JUDGED)
    (scored,) = (one for one in run.of("candidate.scored") if isinstance(one, CandidateScored))
    assert (scored.score, scored.report.startswith("Step 2 holds")) == (1, True)


async def test_no_judgement_passes_a_solution_of_which_the_report_says_that_it_is_wrong() -> None:
    table: dict[str, Answer] = {
        "judge/c1.1/1/turn/*": "<report>Step 2 is wrong: the case $n=1$ is a counterexample to it.</report>",
        "judge/c1.1/1/turn/1/again": '{"judgement": "correct"}',
        "judge/c1.1/1/turn/2/again": '{"judgement": "correct"}',
    }
    (scored,) = (one for one in (await played(table, JUDGED)).of("candidate.scored") if isinstance(one, CandidateScored))
    assert scored.score is None


async def test_an_evaluator_that_only_repeats_the_prompt_judges_nothing_without_an_examination() -> None:
    table: dict[str, Answer] = {
        "judge/c1.1/1/turn/1": "## Your task\nTurn 1 of at most 2. Later turns will follow.",
        "judge/c1.1/1/turn/1/again": '{"judgement": "incorrect"}',
    }
    (scored,) = (one for one in (await played(table, JUDGED)).of("candidate.scored") if isinstance(one, CandidateScored))
    assert (scored.score, scored.call) == (1, "judge/c1.1/1/turn/2"), "its second turn counts"
    text = "Step 2 fails at $n=1$, where both sides differ."
    table["judge/c1.1/1/turn/1/again"] = f'{{"examination": "{text}", "judgement": "incorrect"}}'
    (scored,) = (one for one in (await played(table, JUDGED)).of("candidate.scored") if isinstance(one, CandidateScored))
    assert (scored.score, scored.report) == (0, text)


async def test_checkpoints_and_points_come_as_lists() -> None:
    table: dict[str, Answer] = {
        "condense/c1.1": "no tags",
        "condense/c1.1/again": '{"checkpoints": ["Set up.", "Set up.", "Proved."]}',
        "sum-up/c1.1": "no tags",
        "sum-up/c1.1/again": final('{"judgement": ["All agree.", "The second', finish_reason="length"),
    }
    run = await played(table, JUDGED.model_copy(update={"evaluators": 2}))
    (stored,) = (one for one in run.of("memory.stored") if isinstance(one, MemoryStored))
    assert stored.condensed == "1. Set up.\n2. Proved."
    assert stored.judgement == "1. All agree.\n2. The second"


async def test_a_text_that_was_cut_off_counts_without_the_loop_that_it_ended_in() -> None:
    loop = "The approach is to write the sum twice, once backwards (as is known): " + "And so on. " * 60
    run = await played({"condense/c1.1": final(loop, finish_reason="length")}, JUDGED)
    (stored,) = (one for one in run.of("memory.stored") if isinstance(one, MemoryStored))
    assert stored.condensed == "The approach is to write the sum twice, once backwards (as is known): And so on."


def test_the_last_turn_asks_for_the_ending_alone() -> None:
    assert list(turn_schema("answer", is_last=True)["properties"]) == ["steps"]
    assert turn_schema("report", is_last=True)["properties"] == {"judgement": {"enum": ["correct", "incorrect"]}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"steps": ["It holds."], "code": ["print(1)"]}', "there are 2 actions"),
        ('{"judgement": "perhaps"}', "neither correct nor incorrect"),
        ('{"code": [" "]}', "is empty"),
    ],
)
def test_an_object_that_is_not_one_action_says_why(text: str, said: str) -> None:
    found = read_turn_form(final(text))
    assert isinstance(found, Unscored)
    assert said in found.reason


@pytest.mark.parametrize("text", ["Let me think.", "{}", '{"steps', "{" * 500])
def test_what_is_no_such_object_is_left_to_the_other_readers(text: str) -> None:
    assert read_turn_form(final(text, finish_reason="length")) is None


def test_the_last_line_of_code_that_was_cut_off_is_left_out() -> None:
    found = read_turn_form(final('{"code": ["print(1)", "print(2)", "pri', finish_reason="length"))
    assert found is not None
    assert not isinstance(found, Unscored)
    assert found.code == "print(1)\nprint(2)"


@pytest.mark.parametrize("written", ['{"a": ["b", "c\\', '{"a": ["b",', '{"a": {"b": [1, 2', '{"a": "b \\"c'])
def test_json_that_was_cut_off_is_completed(written: str) -> None:
    assert isinstance(json.loads(completed(written)), dict)


def test_texts_are_read_with_their_cut_and_a_text_without_a_loop_stays() -> None:
    assert read_texts(final('{"x": ["One.", "T', finish_reason="length"), "x") == Texts(("One.", "T"), True)
    assert read_texts(final('{"y": ["One."]}'), "x") is None
    text = "1, 2, 3, 4, 5, 6 and then 1, 2, 3, 4, 5, 6"
    assert without_loop(text) == text


#: What SmolLM2 (135M) wrote as an abstractor: the beginning of its prompt, with other fences, until it was cut off.
BEGUN_AGAIN = "<<<CONTENT 7d97ba04e69e49e8>>\n\n## Record of work\n" * 20


async def test_a_text_that_only_begins_its_prompt_again_and_again_is_asked_for_once_more() -> None:
    table: dict[str, Answer] = {
        "condense/c1.1": final(BEGUN_AGAIN, finish_reason="length"),
        "condense/c1.1/again": '{"checkpoints": ["Set up."]}',
    }
    run = await played(table, JUDGED)
    (stored,) = (one for one in run.of("memory.stored") if isinstance(one, MemoryStored))
    assert (stored.condensed, stored.condensed_by) == ("Set up.", "condense/c1.1/again")


async def test_later_turns_read_of_an_action_in_json_in_plain_words() -> None:
    run = await played({"solve/c1.1/turn/1": AIMLESS, "solve/c1.1/turn/1/again": '{"code": ["print(4)"]}'}, ALONE)
    prompt = run.dispatcher.prompt("solve/c1.1/turn/2")
    assert "Called python_code with:\nprint(4)\n\nTool response:\n4" in prompt
    assert '{"code"' not in prompt


async def test_an_examination_that_wanted_no_tool_is_asked_for_its_judgement_alone_and_another_may_still_use_one() -> None:
    for first, fields in (("It seems fine.", ["judgement"]), ("```python\nprint(1)\n```\n```python\nprint(2)\n```", None)):
        table: dict[str, Answer] = {"judge/c1.1/1/turn/1": first, "judge/c1.1/1/turn/1/again": '{"judgement": "incorrect"}'}
        asked = next(one for one in (await played(table, JUDGED)).dispatcher.requests if one.key == "judge/c1.1/1/turn/1/again")
        assert asked.json_schema is not None
        assert list(asked.json_schema.get("properties", {})) == (fields or [])
        assert ("anyOf" in asked.json_schema) is (fields is None)


async def test_a_list_of_words_is_no_solution() -> None:
    table: dict[str, Answer] = {
        "solve/c1.1/turn/1": AIMLESS,
        "solve/c1.1/turn/1/again": '{ "steps" : [ "digestive", "evidence" ] }',
    }
    (first, *_) = (one for one in (await played(table, ALONE)).of("turn.taken") if isinstance(one, TurnTaken))
    assert (first.action, first.problem) == ("none", "it is too short for a solution")
