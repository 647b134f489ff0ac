"""Where vLLM's log lines go: in the worker where its own go, from the engine's processes to standard error; in our format."""

import logging

from apps.runs.logs import JsonFormatter


def as_ours() -> dict[str, str]:
    """The formatter, as a logging configuration names it, for processes whose lines stand beside this one's."""
    if any(isinstance(handler.formatter, JsonFormatter) for handler in logging.getLogger().handlers):
        return {"()": f"{JsonFormatter.__module__}.{JsonFormatter.__name__}"}
    return {"format": "%(asctime)s %(levelname)s %(process)d %(name)s: %(message)s"}


class Lines(logging.StreamHandler):  # type: ignore[type-arg]
    """Named in the logging configuration that all processes of an engine read; imported there by the library of logging."""

    def emit(self, record: logging.LogRecord) -> None:
        ours = logging.getLogger()
        if ours.handlers:
            ours.handle(record)
        else:
            super().emit(record)
