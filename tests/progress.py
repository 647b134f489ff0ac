"""Prints at intervals how many tests are done, slow ones too, and which are running.

A percentage alone seems to stop, because one test in a browser takes as long as a hundred others.
"""

import os
import threading
import time
from collections.abc import Sequence

import pytest

from tests.distribution import plain_name

EVERY_S = float(os.environ.get("PROGRESS_EVERY_S", "20"))


class Progress:
    """Tracks running tests from the reports of the test processes, in the process that distributes tests."""

    def __init__(self, reporter: pytest.TerminalReporter) -> None:
        self._reporter = reporter
        self._began: dict[str, float] = {}
        self._done: set[str] = set()
        self._slow: set[str] = set()
        self._total = 0
        self._start = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._print, name="progress", daemon=True)

    def pytest_runtestloop(self) -> None:
        self._thread.start()

    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Only tests in groups have names that differ from their plain ones: browsers, engines, kills."""
        self._total = len(ids)
        self._slow = {plain_name(test) for test in ids if plain_name(test) != test}

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._began[plain_name(nodeid)] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        if self._began.pop(plain_name(nodeid), None) is not None:
            self._done.add(plain_name(nodeid))

    def pytest_handlecrashitem(self, crashitem: str) -> None:
        self._began.pop(plain_name(crashitem), None)

    def pytest_sessionfinish(self) -> None:
        self._stop.set()

    def line(self) -> str:
        """The progress, for example `2:30: 412 of 8,434 tests, 7 of 262 slow ones; running: tests/x.py::test_y (12 s)`."""
        now = time.monotonic()
        clock = "{}:{:02}".format(*divmod(round(now - self._start), 60))
        if not self._total:
            return f"{clock}: the test processes collect their tests"
        slow = f", {len(self._done & self._slow):,} of {len(self._slow):,} slow ones" if self._slow else ""
        running = "; ".join(f"{test} ({now - began:.0f} s)" for test, began in list(self._began.items()))
        return f"{clock}: {len(self._done):,} of {self._total:,} tests{slow}; running: {running or 'none yet'}"

    def _print(self) -> None:
        while not self._stop.wait(EVERY_S):
            self._reporter.write_line(f"\n{self.line()}")
            self._reporter.flush()


@pytest.hookimpl(trylast=True)  # The reporter is registered in a hook of the same name.
def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin if tests run in other processes and the output is not quiet."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and config.getoption("numprocesses", None) and config.option.verbose >= 0:
        config.pluginmanager.register(Progress(reporter), "lemmascope-progress")
