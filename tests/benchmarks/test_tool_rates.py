"""Rates of tool use, counted from the export of a run: calls that were tried, well-formed, made, and run."""

import json

from benchmarks.tool_turns import Rates, rates

#: Shortened answers of Qwen2.5-Coder-1.5B as an evaluator with functions.
WROTE = {
    "judge/c1.1/1/turn/1": "<report>\nTurn 1: Explore\n1 if the solution is correct and 0 if it is not.\n</report>",
    "judge/c1.1/1/turn/2": '{"name": "python_code", "arguments": ["import sympy as sp", "print(sp.isprime(3))"]}',
    "judge/c1.1/2/turn/1": '```json\n{\n  "name": "python_code",\n  "arguments": {\n    "code": "print(2**10)"\n  }\n}\n```',
    "judge/c1.1/2/turn/2": '<tool_call>\n{"name": "local_rag", "arguments": {"library": "sympy", "query": "is prime"}}\n',
}


def _turn(call: str, action: str, succeeded: bool | None, turn: int = 1) -> str:
    body = {"call": call, "turn": turn, "of": 3, "action": action, "succeeded": succeeded, "problem": ""}
    return json.dumps({"type": "event", "kind": "turn.taken", "body": body})


def _lines(*turns: str) -> list[str]:
    calls = [json.dumps({"type": "call", "key": key, "text": text, "finish_reason": "stop"}) for key, text in WROTE.items()]
    return [json.dumps({"type": "run", "status": "finished"}), *turns, *calls]


def test_tried_well_formed_made_and_run_calls_are_counted_separately() -> None:
    found = rates(
        _lines(
            _turn("judge/c1.1/1/turn/1/again", "python_code", False),
            _turn("judge/c1.1/1/turn/2", "none", False, 2),
            _turn("judge/c1.1/2/turn/1", "python_code", True),
            _turn("judge/c1.1/2/turn/2", "local_rag", True, 2),
        )
    )
    assert found == Rates(turns=4, tried=3, well_formed=2, as_function=2, called=3, ran=2, without_error=1, asked=1, found=1)
    assert "| of these calls, well-formed | 2 of 3 | 0.67 |" in found.table


def test_the_last_turn_without_tools_is_not_counted() -> None:
    assert rates(_lines(_turn("judge/c1.1/1/turn/2", "none", False, 3))) == Rates()
    assert "| 0 of 0 | – |" in Rates().table
