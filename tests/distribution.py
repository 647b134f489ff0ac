"""How tests are handed to processes: by groups, and so that a test that ends its process fails alone.

pytest-xdist 3.8 hands a lost process's finished tests out again, gives its replacement a single test to wait with for ever, and
repeats the test that ended it (pytest-dev/pytest-xdist#1323, #1327, #1371). The first two are mended after 3.8; when a release
has all three, this module goes. `-p tests.distribution` loads it where tests/conftest.py is not read.
"""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadGroupScheduling
from xdist.workermanage import WorkerController


class SurvivingGroups(LoadGroupScheduling):  # type: ignore[misc]  # xdist has no types
    """`--dist loadgroup` that goes on without a process that was lost."""

    def remove_node(self, node: WorkerController) -> str | None:
        """Take what `node` had left back; returns the test it was running, which has failed and is not handed out again."""
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
        return lost

    def _reschedule(self, node: WorkerController) -> None:
        """Hand out more; a process starts a test only when it knows of a next one, or that there is none."""
        super()._reschedule(node)
        while self.workqueue and not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
            self._assign_work_unit(node)
        if not self.workqueue and self._pending_of(self.assigned_work[node]) < 2:
            node.shutdown()


@pytest.hookimpl(tryfirst=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> SurvivingGroups | None:
    return SurvivingGroups(config, log) if config.getvalue("dist") == "loadgroup" else None
