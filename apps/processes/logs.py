"""Fields of log lines: run, step and attempt of the call, and the process.

A line gets its fields from `extra=about(request)`, or from its task (`bind`): all lines of a
drive have the id of the run. `LOG_FORMAT` chooses lines for people or JSON for machines.
"""

import contextvars
import json
import logging
import os
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from apps.reasoning.domain.generation import GenerationRequest

FIELDS = ("run", "step", "attempt", "alias", "outcome", "fence")
_bound: contextvars.ContextVar[Mapping[str, Any]] = contextvars.ContextVar("log_fields", default={})  # noqa: B039  (never changed)


def about(request: GenerationRequest) -> dict[str, Any]:
    """The fields of a line about a call, for `extra`."""
    return {"run": request.run, "step": request.key, "attempt": request.attempt, "alias": request.alias}


def bind(**fields: Any) -> None:
    """Add fields to all lines of the current task, and of tasks and threads that it starts later."""
    _bound.set({**_bound.get(), **fields})


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """Fields of a line; its own fields override those of its task."""
    found = dict(_bound.get())
    found.update({name: value for name in FIELDS if (value := getattr(record, name, None)) is not None})
    return found


def process_name() -> str:
    """`host/pid`, as in leases and heartbeats."""
    return f"{socket.gethostname()}/{os.getpid()}"


class TextFormatter(logging.Formatter):
    """Lines for people. A line without the id of its run gets its fields in brackets at the end."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  (logging's name)
        line = super().formatMessage(record)
        fields = fields_of(record)
        if "run" not in fields or str(fields["run"]) in line:
            return line
        return f"{line} [{' '.join(f'{name}={value}' for name, value in fields.items())}]"


class JsonFormatter(logging.Formatter):
    """One JSON object a line: `at`, `level`, `logger`, `message`, `process` (`host/pid`), and the fields of the call."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": process_name(),
            **fields_of(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)
