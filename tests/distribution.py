"""Distribution of tests to processes: by groups, and so that a test that ends its process fails alone.

When a process is lost, pytest-xdist 3.8 runs its finished tests again, gives its replacement a single test with which it waits
for ever, and repeats the test that ended it (pytest-dev/pytest-xdist#1323, #1327, #1371). The first two are fixed after 3.8;
remove this module when a release fixes all three. `-p tests.distribution` loads it where tests/conftest.py is not read.
"""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadGroupScheduling
from xdist.workermanage import WorkerController


def plain_name(test: str) -> str:
    """The name of a test without the group that xdist appends to it, so that `pytest NAME` runs it."""
    return test.rpartition("@")[0] if test.rfind("@") > test.rfind("]") else test


class SurvivingGroups(LoadGroupScheduling):  # type: ignore[misc]  # xdist has no types
    """`--dist loadgroup` that continues without a lost process."""

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
