"""Pieces of function calls become one growing text, however a server cuts and orders them."""

from typing import Any

from apps.reasoning.inference.tool_text import ToolText
from apps.reasoning.reading.turns.actions import Action, read_action
from tests.reasoning.play import final


def piece(index: int | None = None, name: str = "", arguments: object = None, call_id: str = "") -> dict[str, Any]:
    function = ({"name": name} if name else {}) | ({} if arguments is None else {"arguments": arguments})
    return ({"id": call_id} if call_id else {}) | ({} if index is None else {"index": index}) | {"function": function}


def written(*chunks: list[Any], follows_text: bool = False) -> str:
    """The whole text; every piece is appended."""
    calls = ToolText()
    return "".join(calls.push(chunk, follows_text=follows_text) for chunk in chunks) + calls.close(follows_text=follows_text)


def block(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def test_arguments_are_written_as_they_arrive() -> None:
    calls = ToolText()
    assert (
        calls.push([piece(0, "python_code", "", "a")], follows_text=False)
        == '<tool_call>\n{"name": "python_code", "arguments": '
    )
    assert calls.push([piece(0, arguments='{"code": "pri')], follows_text=True) == '{"code": "pri'
    assert calls.push([piece(0, arguments='nt(1)"}')], follows_text=True) == 'nt(1)"}'
    assert calls.close(follows_text=True) == "}\n</tool_call>"
    assert calls.close(follows_text=True) == ""


def test_the_written_text_is_read_as_the_original_call() -> None:
    found = read_action(final(written([piece(0, "python_code", '{"code": "print(1)"}')])), "answer")
    assert found == Action(kind="python_code", content="print(1)", called=True)


def test_a_call_after_a_text_begins_a_new_line() -> None:
    assert written([piece(0, "f", "{}")], follows_text=True) == f"\n{block('f', '{}')}"


def test_alternating_pieces_of_two_calls_make_two_calls_in_order() -> None:
    chunks = [[piece(0, "f", "{", "a")], [piece(1, "g", '{"x"', "b")], [piece(0, arguments="}")], [piece(1, arguments=": 1}")]]
    assert written(*chunks) == "\n".join([block("f", "{}"), block("g", '{"x": 1}')])


def test_two_complete_calls_with_the_same_index_remain_two() -> None:
    assert written([piece(0, "f", "{}", "a")], [piece(0, "g", "{}", "b")]) == f"{block('f', '{}')}\n{block('g', '{}')}"


def test_calls_without_an_index_are_distinguished_by_position() -> None:
    assert written([piece(None, "f", "{}"), piece(None, "g", "{}")]) == f"{block('f', '{}')}\n{block('g', '{}')}"


def test_a_name_that_is_repeated_or_late_is_taken_once() -> None:
    assert written([piece(0, "f", "{", "a")], [piece(0, "f", "}", "a")]) == block("f", "{}")
    assert written([piece(0, arguments="{")], [piece(0, "f", "}")]) == block("f", "{}")


def test_arguments_that_are_an_object_are_written_as_json() -> None:
    assert written([piece(0, "f", {"code": "é"})]) == block("f", '{"code": "é"}')


def test_text_between_and_after_calls_is_put_at_the_end() -> None:
    calls = ToolText()
    first = calls.push([piece(0, "f", "{}")], follows_text=False)
    calls.after("Now I ")
    calls.after("wait.\n")
    assert first + calls.close(follows_text=True) == f"{block('f', '{}')}\nNow I wait."


def test_a_name_with_quotes_breaks_nothing() -> None:
    assert written([piece(0, 'f"}', "{}")]) == '<tool_call>\n{"name": "f\\"}", "arguments": {}}\n</tool_call>'


def test_values_that_are_not_calls_are_ignored() -> None:
    assert written(["call", None, 7], []) == ""
    assert written([{"index": 0}]) == block("", "")
    assert written([{"index": "0", "function": "f"}]) == block("", "")
