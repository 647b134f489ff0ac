"""Log lines about a call carry its run and step as fields, as JSON and for people."""

import asyncio
import json
import logging
import sys
from typing import Any

from apps.processes.logs import JsonFormatter, TextFormatter, about, bind, fields_of, process_name
from apps.reasoning.domain.generation import GenerationRequest, Message

RUN = "7f3c1d1e-0000-4000-8000-000000000001"
REQUEST = GenerationRequest(
    run=RUN, key="s0/r1/reason", attempt=2, role="reasoner", alias="small", messages=(Message(role="user", content="?"),)
)


def record(message: str = "began", **extra: Any) -> logging.LogRecord:
    return logging.getLogger("workers.worker").makeRecord(
        "workers.worker", logging.INFO, __file__, 1, message, (), None, extra=extra
    )


def test_a_json_line_has_run_step_attempt_alias_and_process() -> None:
    line = json.loads(JsonFormatter().format(record(**about(REQUEST))))
    assert line.pop("at").endswith("+00:00")
    assert line == {
        "level": "INFO", "logger": "workers.worker", "message": "began", "process": process_name(), "run": RUN,
        "step": "s0/r1/reason", "attempt": 2, "alias": "small",
    }  # fmt: skip


def test_a_json_record_is_always_one_line() -> None:
    try:
        raise ValueError("first\nsecond")
    except ValueError:
        failure = logging.getLogger("x").makeRecord("x", logging.ERROR, __file__, 1, "a\nb", (), sys.exc_info())
    line = JsonFormatter().format(failure)
    assert "\n" not in line
    assert "ValueError: first\nsecond" in json.loads(line)["exception"]


def test_a_line_for_people_names_its_run_once() -> None:
    formatter = TextFormatter("{name}: {message}", style="{")
    assert formatter.format(record(f"began {RUN}/s0#1", run=RUN)) == f"workers.worker: began {RUN}/s0#1"
    assert formatter.format(record("slow", run=RUN, step="s0")) == f"workers.worker: slow [run={RUN} step=s0]"
    assert formatter.format(record("no call")) == "workers.worker: no call"


async def test_only_lines_of_the_same_task_carry_its_bound_fields() -> None:
    async def drive(run: str) -> dict[str, Any]:
        bind(run=run)
        await asyncio.sleep(0)
        return await asyncio.to_thread(fields_of, record(step="s1"))

    one, two = await asyncio.gather(asyncio.create_task(drive("one")), asyncio.create_task(drive("two")))
    assert one == {"run": "one", "step": "s1"}
    assert two == {"run": "two", "step": "s1"}
    assert fields_of(record()) == {}
