"""Outcomes of tool calls over all runs, for the operations page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.processes.metrics import Totals

JOB_WORDS = {"python": "Python code of models", "check_math": "Formula checks", "search": "Documentation"}
_GOOD = "ok"


@dataclass(frozen=True)
class ToolCalls:
    """All counted calls of one job. `outcomes`: the failures by kind, most frequent first."""

    job: str
    calls: int
    good: int
    outcomes: Sequence[tuple[str, int]]

    @property
    def word(self) -> str:
        return JOB_WORDS.get(self.job, self.job)

    @property
    def rate(self) -> float:
        """Percentage of successful calls."""
        return 100 * self.good / self.calls


def tool_calls(totals: Totals) -> list[ToolCalls]:
    """Calls by job, in the order of `JOB_WORDS`; unused jobs are left out."""
    by_job: dict[str, dict[str, int]] = {}
    for (job, outcome), number in totals.counters.get("tool_calls", {}).items():
        by_job.setdefault(job, {})[outcome] = int(number)
    order = [*JOB_WORDS, *sorted(set(by_job) - set(JOB_WORDS))]
    return [_of(job, by_job[job]) for job in order if sum(by_job.get(job, {}).values())]


def _of(job: str, outcomes: Mapping[str, int]) -> ToolCalls:
    others = sorted(((name, number) for name, number in outcomes.items() if name != _GOOD), key=lambda one: -one[1])
    return ToolCalls(job, sum(outcomes.values()), outcomes.get(_GOOD, 0), others)
