"""Outcomes of whole runs of a model, for each scaffold and in total."""

from typing import Any

from benchmarks.whole_runs import table


def ended(
    scaffold: str, ended_by: str = "exhausted", *, accepted: bool | None = None, status: str = "finished"
) -> dict[str, Any]:
    return {"scaffold": scaffold, "status": status, "calls": 3, "accepted": accepted, "ended_by": ended_by}


def test_every_run_counts_once_in_its_row_and_in_the_total() -> None:
    rows = [
        ended("rsa", "accepted", accepted=True),
        ended("rsa", accepted=False),
        ended("rsa"),
        ended("nomos", "nothing-readable"),
        ended("nomos", "failed", status="needs-fork"),
    ]
    _, _, rsa, nomos, whole = table(rows).splitlines()
    assert rsa == "| rsa | 3 | 1 | 1 | 1 | 0 | 0 | 9 |"
    assert nomos == "| nomos | 2 | 0 | 0 | 0 | 1 | 1 | 6 |"
    assert whole == "| all | 5 | 1 | 1 | 1 | 1 | 1 | 15 |"
