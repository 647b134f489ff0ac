"""Where vLLM's log lines go: in the worker where its own go, in the engine's processes to standard error."""

import logging


class Lines(logging.StreamHandler):  # type: ignore[type-arg]
    """Named in the logging configuration that all processes of an engine read; imported there by the library of logging."""

    def emit(self, record: logging.LogRecord) -> None:
        ours = logging.getLogger()
        if ours.handlers:
            ours.handle(record)
        else:
            super().emit(record)
