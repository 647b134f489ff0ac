"""Tests that fail once and pass when they are repeated: CI repeats a failure once, tells of it, and bears a few.

Among ten thousand tests with browsers, sockets and processes on two cores one now and then meets a moment that says nothing of
the change under test. Never repeated are tests marked `kill`: that chance does no harm is what they are about, and the one time
in hundreds that such a test failed it had found an owner of a run writing under the next one's fence. At home nothing is
repeated.
"""

import os

import pytest

#: More repetitions that passed than this fail the run: then something is wrong, and not the moment.
AT_MOST = 3


def repeat_once(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In CI, let a test that fails be tried a second time."""
    if os.environ.get("CI") == "true" and config.pluginmanager.hasplugin("rerunfailures"):
        for item in items:
            if not item.get_closest_marker("kill"):
                item.add_marker(pytest.mark.flaky(reruns=1))


def _repeated(config: pytest.Config) -> list[pytest.TestReport]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    found: list[pytest.TestReport] = reporter.stats.get("rerun", []) if reporter else []
    return found


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if len(_repeated(session.config)) > AT_MOST and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    repeated = _repeated(terminalreporter.config)
    if repeated:
        terminalreporter.section(f"{len(repeated)} failed once and were repeated; more than {AT_MOST} fail the run")
        for report in repeated:
            terminalreporter.write_line(report.nodeid)
            terminalreporter.write_line(report.longreprtext)
