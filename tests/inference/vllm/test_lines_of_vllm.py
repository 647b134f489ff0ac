"""vLLM's log lines reach the worker's log, and lines from the engine's own processes have the same format."""

import json
import logging
import subprocess
import sys

import pytest

from apps.processes.logs import JsonFormatter, TextFormatter
from workers.engines.vllm_lines import Lines, our_format


def test_lines_of_vllm_reach_the_workers_log(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> None:
    record = logging.LogRecord("vllm.core", logging.INFO, "f", 1, "loaded", None, None)
    Lines().emit(record)
    assert [(found.name, found.message) for found in caplog.records] == [("vllm.core", "loaded")]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("kind", ["text", "json"])
def test_lines_of_the_engines_processes_have_the_workers_format(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The configuration is read in a separate process, as the engine core reads it."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if kind == "json" else TextFormatter("{message}", style="{"))
    monkeypatch.setattr(logging.getLogger(), "handlers", [handler])
    program = (
        "import json, logging.config, sys; logging.config.dictConfig(json.loads(sys.argv[1])); "
        "logging.getLogger('vllm').info('the core is up')"
    )
    config = {
        "version": 1,
        "formatters": {"line": our_format()},
        "handlers": {"console": {"class": "workers.engines.vllm_lines.Lines", "formatter": "line"}},
        "loggers": {"vllm": {"handlers": ["console"], "level": "INFO", "propagate": False}},
    }
    ended = subprocess.run([sys.executable, "-c", program, json.dumps(config)], capture_output=True, text=True, check=True)
    line = ended.stderr.strip()
    if kind == "json":
        assert {name: json.loads(line)[name] for name in ("level", "logger", "message")} == {
            "level": "INFO", "logger": "vllm", "message": "the core is up",
        }  # fmt: skip
    else:
        assert line.endswith("vllm: the core is up")
