"""Calls of functions are read like tagged blocks: exactly one a turn, its arguments as JSON, nothing guessed."""

import json

import pytest

from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.turns.actions import Action, Query, read_action, read_query
from tests.reasoning.agents import called, python, solution
from tests.reasoning.play import final


def test_a_call_is_the_action_that_its_name_says() -> None:
    found = read_action(final("Let us see.\n" + called("python_code", {"code": "print(1)\n"})), "answer")
    assert found == Action(kind="python_code", content="print(1)", before="Let us see.", called=True)


def test_a_question_by_a_call_reads_as_one_in_a_block() -> None:
    found = read_action(final(called("local_rag", {"library": "sympy", "query": "solve  it"})), "answer")
    assert isinstance(found, Action)
    assert read_query(found.content) == Query(library="sympy", query="solve it")


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"arguments": {"code": "print(1)"}, "name": "python_code"}</tool_call>',
        '<tool_call>\n{"name": "python_code", "parameters": {"code": "print(1)"}}\n</tool_call>',
        '<TOOL_CALL> {"name": "python_code", "arguments": "{\\"code\\": \\"print(1)\\"}"} </TOOL_CALL>',
    ],
)
def test_models_that_write_the_block_themselves_are_read_too(text: str) -> None:
    found = read_action(final(text), "answer")
    assert isinstance(found, Action)
    assert (found.kind, found.content) == ("python_code", "print(1)")


def test_the_block_ends_where_its_json_does() -> None:
    code = "print('</tool_call> <answer>1</answer> <python_code>')"
    found = read_action(final(called("python_code", {"code": code})), "answer")
    assert isinstance(found, Action)
    assert found.content == code


def test_line_ends_inside_a_string_are_taken_as_they_stand() -> None:
    found = read_action(
        final('<tool_call>{"name": "python_code", "arguments": {"code": "a = 1\nprint(a)"}}</tool_call>'), "answer"
    )
    assert isinstance(found, Action)
    assert found.content == "a = 1\nprint(a)"


def test_what_no_database_keeps_is_replaced() -> None:
    arguments = '{"code": "print(\\"\\u0000 \\ud83d \\ud83d\\ude00\\")"}'
    found = read_action(final(called("python_code", arguments)), "answer")
    assert isinstance(found, Action)
    assert found.content == 'print("\ufffd \ufffd \U0001f600")'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (called("python_code", '{"code": "print(1)"'), "the arguments of python_code are not valid JSON"),
        (called("python_code", ""), "the arguments of python_code are not valid JSON"),
        (called("python_code", '{"code": print(1)}'), "the arguments of python_code are not valid JSON"),
        ('<tool_call>{"name": "python_code", "arguments": "{"}</tool_call>', "the arguments of python_code are not valid JSON"),
        ("<tool_call>python_code(print(1))</tool_call>", "a call of a function is not valid JSON"),
        ('<tool_call>{"name": "python_code", "arguments": {"code": "1"}} and so on', "something follows"),
        ("<tool_call>" + "[" * 100_000, "not valid JSON"),
        (called("python_code", []), "the arguments of python_code are no JSON object"),
        (called("python_code", {}), "without its argument `code`"),
        (called("python_code", {"code": ["print(1)"]}), "without its argument `code`"),
        (called("python_code", {"code": " "}), "is empty"),
        ("<tool_call>[1]</tool_call>", "without a name"),
        (called("", {"code": "print(1)"}), "without a name"),
        (called("bash", {"command": "ls"}), "there is no function bash: there are python_code and local_rag"),
        (called("answer", {"text": "It holds."}), "<answer> is written as a block"),
        (called("python_code", {"code": "1"}) + called("python_code", {"code": "2"}), "there are 2 actions"),
        (called("python_code", {"code": "1"}) + python("print(2)"), "there are 2 actions"),
        (called("python_code", {"code": "1"}) + solution("It holds."), "there are 2 actions"),
    ],
)
def test_a_call_that_is_none_says_why(text: str, said: str) -> None:
    found = read_action(final(text), "answer")
    assert isinstance(found, Unscored)
    assert said in found.reason
    assert len(found.reason) < 300


#: As Qwen2.5-Coder-1.5B wrote them where its template offered it these functions.
QWEN = (
    '```json\n{\n  "name": "python_code",\n  "arguments": {\n    "code": "sum([i**2 for i in range(1, 11)])"\n  }\n}\n```',
    '{"name": "factorint", "arguments": {"code": "factorint(48)"}}\n\n'
    '```json\n{\n    "name": "factorint",\n    "arguments": {\n        "code": "factorint(48)"\n    }\n}\n```',
)


def test_a_call_without_its_block_is_read_in_a_fence_or_bare_and_twice_the_same_is_one() -> None:
    found = read_action(final(QWEN[0]), "answer")
    assert isinstance(found, Action)
    assert (found.content, found.called) == ("sum([i**2 for i in range(1, 11)])", True)
    twice = read_action(final(QWEN[1].replace('factorint"', 'python_code"')), "answer")
    assert isinstance(twice, Action)
    assert twice.content == "factorint(48)"


def test_an_engine_that_stops_at_the_end_of_a_call_leaves_its_tag_out() -> None:
    found = read_action(final(called("python_code", {"code": "print(1)"}).removesuffix("</tool_call>")), "answer")
    assert isinstance(found, Action)
    assert found.content == "print(1)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (QWEN[1], "there is no function factorint"),
        (
            '{"name": "python_code", "arguments": {"code": """\nprint(1)\n"""}}',
            "the arguments of python_code are not valid JSON",
        ),
        (QWEN[0] + '\n{"name": "python_code", "arguments": {"code": "2"}}', "there are 2 actions"),
        ('The object {"name": "python_code", "arguments": {}} is how one calls.', "there is no action"),
        ('{"name": "Euler", "born": 1707}', "there is no action"),
    ],
)
def test_json_without_its_block_that_is_no_call_says_why(text: str, said: str) -> None:
    found = read_action(final(text), "answer")
    assert isinstance(found, Unscored)
    assert said in found.reason


def test_a_call_that_was_cut_off_is_none() -> None:
    text = called("python_code", {"code": "print(1)"})
    assert isinstance(read_action(final(text, finish_reason="length"), "answer"), Unscored)


def test_a_call_in_the_thinking_is_none() -> None:
    text = f"<think>{called('python_code', {'code': '1'})}</think>{solution('It holds.')}"
    found = read_action(final(text), "answer")
    assert isinstance(found, Action)
    assert found.kind == "answer"


def test_a_long_name_does_not_flood_the_reason() -> None:
    found = read_action(final(f"<tool_call>{json.dumps({'name': 'x' * 10_000, 'arguments': {}})}</tool_call>"), "answer")
    assert isinstance(found, Unscored)
    assert len(found.reason) < 300


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "\\ud800\\u0000", "arguments": {}}</tool_call>',
        '<tool_call>{"name": "python_code", "arguments": "{\\"code\\": \\"x\\\\ud800\\\\u0000\\"}"}</tool_call>',
        '<tool_call>{"name": "local_rag", "arguments": {"query": "\\ud835\\u0000"}}</tool_call>',
        '<tool_call>{"name": "\\ud800", "arguments": "{"}</tool_call>',
    ],
)
def test_no_name_argument_or_reason_holds_what_no_database_keeps(text: str) -> None:
    kept = read_action(final(text), "answer").model_dump_json()
    assert "\\u0000" not in kept
    assert "\ufffd" in kept


def test_what_is_nested_too_deeply_says_so() -> None:
    deep = '{"query": ' * 500 + "1" + "}" * 500
    found = read_action(final(f'<tool_call>{{"name": "local_rag", "arguments": {deep}}}</tool_call>'), "answer")
    assert isinstance(found, Unscored)
    assert found.reason == "the arguments of local_rag are not valid JSON: it is nested too deeply"
