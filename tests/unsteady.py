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
    """The first failures of the tests that passed on repetition. A test that failed twice is one of the failures."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter else {}
    failed = {report.nodeid for kind in ("failed", "error") for report in stats.get(kind, [])}
    return [report for report in stats.get("rerun", []) if report.nodeid not in failed]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if len(_repeated(session.config)) > AT_MOST and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """First the names, one a line as `pytest` accepts them, then each name with its first failure."""
    repeated = _repeated(terminalreporter.config)
    if repeated:
        terminalreporter.section(f"Failed once and passed on repetition: {len(repeated)}; more than {AT_MOST} fail the run")
        for report in repeated:
            terminalreporter.write_line(report.nodeid)
        for report in repeated:
            terminalreporter.write_sep("_", f"{report.nodeid} ({report.when})")
            terminalreporter.write_line(report.longreprtext)
            terminalreporter.write_line(report.capstderr)
