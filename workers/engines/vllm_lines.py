"""Log handler for vLLM in our format: the worker's lines go to its own log, those of engine processes to standard error."""

import logging

from apps.processes.logs import JsonFormatter


def our_format() -> dict[str, str]:
    """The formatter of this process, as an entry of a logging configuration for the engine's processes."""
    if any(isinstance(handler.formatter, JsonFormatter) for handler in logging.getLogger().handlers):
        return {"()": f"{JsonFormatter.__module__}.{JsonFormatter.__name__}"}
    return {"format": "%(asctime)s %(levelname)s %(process)d %(name)s: %(message)s"}


class Lines(logging.StreamHandler):  # type: ignore[type-arg]
    """The handler in the logging configuration that all processes of an engine read; `logging.config` imports it there."""

    def emit(self, record: logging.LogRecord) -> None:
        ours = logging.getLogger()
        if ours.handlers:
            ours.handle(record)
        else:
            super().emit(record)
