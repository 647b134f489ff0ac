"""Distribution of tests to processes: by files and groups, and so that a test that ends its process fails alone.

A file goes to one process, which makes its fixtures once. Browsers, engines and kills are slow groups, which mostly wait. Some
processes take these first, the others the quick files, so that waiting overlaps with computing and the progress is even.

When a process is lost, pytest-xdist 3.8 runs its finished tests again, gives its replacement a single test with which it waits
for ever, and repeats the test that ended it (pytest-dev/pytest-xdist#1323, #1327, #1371). The first two are fixed after 3.8;
remove this module when a release fixes all three. `-p tests.distribution` loads it where tests/conftest.py is not read.
"""

import os
import zlib

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadGroupScheduling
from xdist.workermanage import WorkerController


def plain_name(test: str) -> str:
    """The name of a test without the group that xdist appends to it, so that `pytest NAME` runs it."""
    return test.rpartition("@")[0] if test.rfind("@") > test.rfind("]") else test


#: Of memory for a test process with its browser or its stack of processes.
GIB_EACH = 3
MOST = 12


@pytest.hookimpl(tryfirst=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """The processes of `-n auto`: three on two cores, because tests also wait, but no more than fit into memory."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None  # xdist reads it.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**30
    return max(1, min(cores + cores // 2, gib // GIB_EACH, MOST))


def group_slow_tests(items: list[pytest.Item]) -> None:
    """Group the tests of browsers, a group for three processes, and each file of engines and kills.

    Two browsers on two cores only slow each other down.
    """
    browsers = max(1, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) // 3)
    for item in items:
        if item.get_closest_marker("xdist_group"):
            continue
        file = item.nodeid.partition("::")[0]
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.xdist_group(f"browser {zlib.crc32(file.encode()) % browsers + 1}"))
        elif item.get_closest_marker("kill") or item.get_closest_marker("engine"):
            item.add_marker(pytest.mark.xdist_group(f"slow {file.removesuffix('.py')}"))


class SurvivingGroups(LoadGroupScheduling):  # type: ignore[misc]  # xdist has no types
    """`--dist loadgroup` by files outside of groups, which continues without a lost process."""

    def _split_scope(self, nodeid: str) -> str:
        scope: str = super()._split_scope(nodeid)
        return nodeid.partition("::")[0] if scope == nodeid else scope

    def _assign_work_unit(self, node: WorkerController) -> None:
        """Give the last process, and every third, quick files while there are any, and the others slow groups."""
        place, last = self.nodes.index(node), len(self.nodes) - 1
        is_quick = last > 0 and (place == last or place % 3 == 2)
        scope = next((scope for scope in self.workqueue if scope.endswith(".py") == is_quick), None)
        if scope is not None:
            self.workqueue.move_to_end(scope, last=False)
        super()._assign_work_unit(node)

    def remove_node(self, node: WorkerController) -> str | None:
        """Requeue the remaining tests of `node`. Returns the test it was running, which has failed and is not repeated."""
        units = self.assigned_work.pop(node)
        left = {scope: unit for scope, unit in units.items() if not all(unit.values())}
        if not left:
            return None
        unit = next(iter(left.values()))
        lost: str = next(test for test, done in unit.items() if not done)
        unit[lost] = True
        self.workqueue.update({scope: unit for scope, unit in left.items() if not all(unit.values())})
        for other in self.nodes:
            self._reschedule(other)
        return plain_name(lost)

    def _reschedule(self, node: WorkerController) -> None:
        """Assign more tests. A process starts a test only when it has another one, or knows that it is the last."""
        super()._reschedule(node)
        while self.workqueue and not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
            self._assign_work_unit(node)
        if not self.workqueue and self._pending_of(self.assigned_work[node]) < 2:
            node.shutdown()


@pytest.hookimpl(tryfirst=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> SurvivingGroups | None:
    return SurvivingGroups(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """In the process that prints, name tests without their groups. The test processes need the groups."""
    if hasattr(report, "node"):
        report.nodeid = plain_name(report.nodeid)
