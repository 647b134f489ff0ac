"""Prints the running tests and their times at intervals, because a percentage seems to stop while slow groups run first."""

import os
import threading
import time

import pytest

from tests.distribution import plain_name

EVERY_S = float(os.environ.get("PROGRESS_EVERY_S", "30"))


class Progress:
    """Tracks running tests from the reports of the test processes, in the process that distributes tests."""

    def __init__(self, reporter: pytest.TerminalReporter) -> None:
        self._reporter = reporter
        self._began: dict[str, float] = {}
        self._done = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._print, name="progress", daemon=True)

    def pytest_runtestloop(self) -> None:
        self._thread.start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._began[plain_name(nodeid)] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._done += self._began.pop(plain_name(nodeid), None) is not None

    def pytest_handlecrashitem(self, crashitem: str) -> None:
        self._began.pop(plain_name(crashitem), None)

    def pytest_sessionfinish(self) -> None:
        self._stop.set()

    def line(self, total: int) -> str:
        """The progress, for example `412 of 8,434 tests done; running: tests/runs/test_x.py::test_y (12 s)`."""
        now = time.monotonic()
        running = "; ".join(f"{test} ({now - began:.0f} s)" for test, began in list(self._began.items()))
        return f"{self._done:,} of {total:,} tests done; running: {running or 'none yet'}"

    def _print(self) -> None:
        while not self._stop.wait(EVERY_S):
            session = self._reporter._session
            self._reporter.write_line(f"\n{self.line(session.testscollected if session else 0)}")
            self._reporter.flush()


@pytest.hookimpl(trylast=True)  # The reporter is registered in a hook of the same name.
def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin if tests run in other processes and the output is not quiet."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and config.getoption("numprocesses", None) and config.option.verbose >= 0:
        config.pluginmanager.register(Progress(reporter), "lemmascope-progress")
