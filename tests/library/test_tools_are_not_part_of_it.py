"""A scaffold that offers tools runs; each tool call fails with a reason that the model and the caller receive."""

from apps.reasoning.domain.tool_events import ToolFailed
from apps.reasoning.library import Event, solve
from tests.library.conftest import PROBLEM, ModelServer, Served
from tests.reasoning.agents import python


def test_a_tool_call_fails_with_a_reason_and_the_run_continues(server: ModelServer, served: Served) -> None:
    events: list[Event] = []
    server.answers = {"You solve an olympiad problem in a conversation": python("print(2 + 2)")} | server.answers
    result = solve(PROBLEM, scaffold="alpha_apollo", preset="quick", calls=4, concurrency=1, on_event=events.append, **served)
    failed = [event for event in events if isinstance(event, ToolFailed)]
    assert failed
    assert "has no sandbox for tools" in failed[0].reason
    assert result.calls == 4
