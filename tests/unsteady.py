"""Unsteady tests, which fail once and pass on repetition: CI repeats a failure once, reports it, and accepts a few.

Among ten thousand tests with browsers, sockets and processes on two cores, a test sometimes fails for reasons unrelated to the
change under test. Tests marked `kill` are never repeated, because they check that chance does no harm: in the one of hundreds
of runs in which such a test failed, it had found a run's old owner writing under the next owner's fence. Outside CI no test is
repeated.
"""

import os

import pytest

#: More successful repetitions than this fail the run, because chance alone does not explain them.
AT_MOST = 3


def repeat_once(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In CI, repeat a failed test once."""
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
        terminalreporter.section(f"{len(repeated)} tests failed once and were repeated; more than {AT_MOST} fail the run")
        for report in repeated:
            terminalreporter.write_line(report.nodeid)
            terminalreporter.write_line(report.longreprtext)
