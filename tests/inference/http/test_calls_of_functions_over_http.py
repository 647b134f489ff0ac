"""Functions over HTTP: offers in the request, calls streamed in pieces, and servers or models without functions."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.generation import Delta, Final
from apps.reasoning.domain.values import Unscored
from apps.reasoning.inference.openai_http import NO_FUNCTIONS
from apps.reasoning.reading.turns.actions import Action, read_action
from apps.reasoning.scaffolds.alpha_apollo.functions import FUNCTIONS
from tests.inference.conftest import a_request, http_backend
from tests.inference.http.fake_server import Canned, FakeModelServer, piece, sse

REFUSED = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'


def call(index: int = 0, name: str = "", arguments: str | None = None, call_id: str = "") -> dict[str, Any]:
    """A chunk with one piece of a call."""
    function = ({"name": name} if name else {}) | ({} if arguments is None else {"arguments": arguments})
    return piece(tool_calls=[{"index": index, "function": function} | ({"id": call_id, "type": "function"} if call_id else {})])


async def answered(
    server: FakeModelServer, chunks: Sequence[dict[str, Any]], *, finish: str = "tool_calls", **table: Any
) -> tuple[list[Delta], Final]:
    """The pieces and the result that the backend makes of a stream of `chunks`. Checks that the pieces add up."""
    body = [*(sse(chunk) for chunk in chunks), sse(piece(finish=finish)), sse("[DONE]")]
    server.next_answers.append(Canned(body=tuple(body)))
    backend = http_backend(server, tools="native", **table)
    items = [item async for item in backend.generate(a_request(tools=FUNCTIONS))]
    await backend.close()
    deltas, result = [item for item in items if isinstance(item, Delta)], items[-1]
    assert isinstance(result, Final)
    assert "".join(delta.text for delta in deltas) == result.text
    assert "".join(delta.reasoning for delta in deltas) == result.reasoning
    assert sum(delta.tokens for delta in deltas) == result.usage.completion
    return deltas, result


def reason_unread(result: Final) -> str:
    found = read_action(result, "answer")
    assert isinstance(found, Unscored)
    return found.reason


async def test_functions_are_offered_in_the_protocols_format(model_server: FakeModelServer) -> None:
    backend = http_backend(model_server, tools="native")
    items = [item async for item in backend.generate(a_request(tools=FUNCTIONS))]
    await backend.close()
    sent = model_server.requests[0]["tools"]
    assert [(tool["type"], tool["function"]["name"]) for tool in sent] == [
        ("function", "python_code"),
        ("function", "local_rag"),
    ]
    assert sent[0]["function"]["parameters"]["required"] == ["code"]
    assert isinstance(items[-1], Final)


async def test_a_request_without_functions_mentions_none(model_server: FakeModelServer) -> None:
    backend = http_backend(model_server, tools="native")
    assert [item async for item in backend.generate(a_request())]
    await backend.close()
    assert "tools" not in model_server.requests[0]


async def test_arguments_stream_in_pieces(model_server: FakeModelServer) -> None:
    arguments = ("", '{"co', 'de": "print', '(1)"}')
    chunks = [
        piece("Let us see."),
        call(0, "python_code", arguments[0], "call-1"),
        *(call(0, "", each) for each in arguments[1:]),
    ]
    deltas, result = await answered(model_server, chunks)
    assert [delta.text for delta in deltas][:4] == [
        "Let us see.",
        '\n<tool_call>\n{"name": "python_code", "arguments": ',
        '{"co',
        'de": "print',
    ]
    expected = Action(kind="python_code", content="print(1)", before="Let us see.", called=True)
    assert read_action(result, "answer") == expected
    assert result.finish_reason == "stop"


async def test_two_interleaved_calls_are_kept_apart(model_server: FakeModelServer) -> None:
    chunks = [
        call(0, "python_code", '{"code": ', "a"),
        call(1, "local_rag", '{"library": "sympy", ', "b"),
        call(0, "", '"print(1)"}'),
        call(1, "", '"query": "solve"}'),
    ]
    _, result = await answered(model_server, chunks)
    assert result.text.count("<tool_call>") == 2
    assert "there are 2 actions" in reason_unread(result)


async def test_arguments_that_are_not_json_are_kept_as_written(model_server: FakeModelServer) -> None:
    _, result = await answered(model_server, [call(0, "python_code", '{"code": "print(1)', "a")])
    assert '{"code": "print(1)}' in result.text
    assert "the arguments of python_code are not valid JSON" in reason_unread(result)


async def test_an_unknown_function_is_named(model_server: FakeModelServer) -> None:
    _, result = await answered(model_server, [call(0, "shell", '{"command": "ls"}', "a")])
    assert "there is no function shell" in reason_unread(result)


async def test_a_model_that_ignores_its_functions_is_read_by_its_tags(model_server: FakeModelServer) -> None:
    chunks = [piece("<python_code>\nprint(1)\n"), piece("</python_code>")]
    _, result = await answered(model_server, chunks, finish="stop")
    assert read_action(result, "answer") == Action(kind="python_code", content="print(1)")


async def test_a_truncated_call_does_not_count(model_server: FakeModelServer) -> None:
    _, result = await answered(model_server, [call(0, "python_code", '{"code": "pri', "a")], finish="length")
    assert result.finish_reason == "length"
    assert "cut off" in reason_unread(result)


async def test_reasoning_before_a_call_is_kept_apart(model_server: FakeModelServer) -> None:
    chunks = [piece(reasoning_content="Hm."), call(0, "python_code", '{"code": "print(1)"}', "a")]
    _, result = await answered(model_server, chunks)
    assert result.reasoning == "Hm."
    assert read_action(result, "answer") == Action(kind="python_code", content="print(1)", called=True)


async def test_reasoning_between_tags_before_a_call_is_kept_apart(model_server: FakeModelServer) -> None:
    chunks = [piece("<think>Hm.</think>Then <"), call(0, "python_code", '{"code": "print(1)"}', "a"), piece("Done.")]
    _, result = await answered(model_server, chunks, reasoning_tags=("<think>", "</think>"))
    assert (result.reasoning, result.text[:7], result.text[-6:]) == ("Hm.", "Then <\n", "\nDone.")
    found = read_action(result, "answer")
    assert isinstance(found, Action)
    assert found.content == "print(1)"


async def test_a_server_that_does_not_stream_is_read_whole(model_server: FakeModelServer) -> None:
    calls = [{"id": "a", "type": "function", "function": {"name": "python_code", "arguments": '{"code": "print(1)"}'}}]
    answer = {"choices": [{"message": {"content": None, "tool_calls": calls}, "finish_reason": "tool_calls"}]}
    model_server.next_answers.append(Canned(body=(json.dumps(answer).encode(),), content_type="application/json"))
    backend = http_backend(model_server, tools="native")
    items = [item async for item in backend.generate(a_request(tools=FUNCTIONS))]
    await backend.close()
    assert isinstance(items[-1], Final)
    assert read_action(items[-1], "answer") == Action(kind="python_code", content="print(1)", called=True)


async def test_a_server_that_refuses_functions_is_not_offered_them_again(model_server: FakeModelServer) -> None:
    refusal = json.dumps({"error": {"message": REFUSED}}).encode()
    model_server.next_answers.append(Canned(status=400, body=(refusal,), content_type="application/json"))
    backend = http_backend(model_server, tools="native")
    for _ in range(2):
        items = [item async for item in backend.generate(a_request(tools=FUNCTIONS))]
        assert isinstance(items[-1], Final)
    assert ["tools" in request for request in model_server.requests] == [True, False, False]
    assert NO_FUNCTIONS in (await backend.health()).detail
    await backend.close()


async def test_another_refusal_is_reported_unchanged(model_server: FakeModelServer) -> None:
    refusal = json.dumps({"error": {"message": "temperature must be at most 2"}}).encode()
    model_server.next_answers.append(Canned(status=400, body=(refusal,), content_type="application/json"))
    backend = http_backend(model_server, tools="native")
    with pytest.raises(RequestRejected, match="temperature must be at most 2"):
        assert [item async for item in backend.generate(a_request(tools=FUNCTIONS))]
    assert len(model_server.requests) == 1
    assert NO_FUNCTIONS not in (await backend.health()).detail
    await backend.close()
