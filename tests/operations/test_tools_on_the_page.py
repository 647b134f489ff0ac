"""Tools on the operations page: the active sandbox or why there is none, and outcomes of tool calls over all runs."""

from concurrent.futures import Future
from datetime import UTC, datetime

import pytest
from django.template.loader import render_to_string
from pytest_django import Settings

from apps.operations.concerns import concerns
from apps.operations.situation import AliasLoad, ProcessNow, Situation, WorkerNow
from apps.operations.tools import tool_calls
from apps.processes import metrics
from apps.processes.metrics import Totals
from apps.reasoning.domain.errors import BackendRefused
from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.tools import Execution
from tests.inference.conftest import a_request
from workers.counting import count_end

COUNTED = Totals({"tool_calls": {("python", "ok"): 17.0, ("python", "exception"): 2.0, ("python", "timeout"): 1.0}}, {})


def _now(*aliases: AliasLoad, totals: Totals = COUNTED) -> Situation:
    return Situation(
        at=datetime(2026, 11, 21, tzinfo=UTC),
        runs={"queued": 0},
        stalled=(),
        database_bytes=0,
        aliases=aliases,
        workers=(WorkerNow("here/1", ["small"], (), 0.0),),
        orchestrators=(ProcessNow("here/2", 1.0, {}),),
        totals=totals,
    )


def _tool(**fields: object) -> AliasLoad:
    return AliasLoad(**{"name": "sandbox", "title": "Python sandbox", "queued": {}, "is_tool": True} | fields)  # type: ignore[arg-type]


def test_tool_calls_are_counted_by_job_with_their_success_rate() -> None:
    python = tool_calls(COUNTED)[0]
    assert (python.word, python.calls, python.rate) == ("Python code of models", 20, 85.0)
    assert python.outcomes == [("exception", 2), ("timeout", 1)]
    assert tool_calls(Totals({}, {})) == []


def test_the_page_shows_the_active_sandbox_and_the_success_rate() -> None:
    now = _now(_tool(workers=1, detail="Python 3.11 behind bubblewrap."))
    page = render_to_string("operations/_now.html", {"now": now, "concerns": [], "steps": [], "workers": []})
    assert "Python 3.11 behind bubblewrap." in page
    assert "85.0 %" in page
    assert concerns(now) == []


def test_a_machine_without_a_sandbox_is_a_warning_with_advice() -> None:
    off = "Code execution is off: no fence holds. To mend it: install bubblewrap."
    found = concerns(_now(_tool(workers=1, troubles=[off])))
    assert [(concern.level, concern.text) for concern in found] == [("warn", off)]
    assert "Runs continue" in found[0].advice


def test_a_tool_without_a_worker_is_a_warning() -> None:
    found = concerns(_now(_tool(queued={6: 3})))
    assert [concern.level for concern in found] == ["warn"]
    assert "python -m workers.serve sandbox" in found[0].advice


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        (Execution(stdout="4"), "ok"),
        (Execution(error="timeout", exit_code=None), "timeout"),
        ("no execution", "unreadable"),
        (BackendRefused("off"), "BackendRefused"),
    ],
)
def test_a_worker_counts_how_every_tool_call_ended(
    result: Execution | str | Exception, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[tuple[str, ...]] = []
    monkeypatch.setattr("workers.counting.count", lambda name, *labels, by=1.0: counted.append((name, *labels)))
    monkeypatch.setattr("workers.counting.observe", lambda *_: None)
    done: Future[Final] = Future()
    if isinstance(result, Exception):
        done.set_exception(result)
    else:
        text = result if isinstance(result, str) else result.model_dump_json()
        done.set_result(Final(text=text, finish_reason="stop"))
    count_end(a_request(alias="sandbox", job="python"), done)
    assert ("tool_calls", "python", outcome) in counted
    counted.clear()
    count_end(a_request(), done)
    assert not [entry for entry in counted if entry[0] == "tool_calls"]
    assert "tool_calls" in metrics.METRICS


def test_a_disabled_sandbox_is_not_reported_as_missing(settings: Settings) -> None:
    from apps.operations import situation

    settings.SANDBOX = "off"
    assert not [alias for alias in situation._aliases() if alias.is_tool]
    settings.SANDBOX = "auto"
    assert [alias.name for alias in situation._aliases() if alias.is_tool] == ["sandbox"]
