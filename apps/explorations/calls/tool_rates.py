"""Success rate of tool calls over many runs, counted as on the page of a run (`reasoning/story/talks.py`)."""

from dataclasses import dataclass

from django.db.models import Count, QuerySet

from apps.reasoning.domain.event_base import Kind
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.runs.models import Run, RunEvent

#: Scaffolds whose models act in turns with tools.
WITH_TOOLS = tuple(name for name, scaffold in SCAFFOLDS.items() if scaffold.uses_tools)
#: Most runs that are counted, newest first.
MOST_RUNS = 200


@dataclass(frozen=True)
class ToolRate:
    """`worked` of `wanted` actions in `runs` runs. Unreadable actions count as failed."""

    worked: int
    wanted: int
    runs: int

    @property
    def rate(self) -> float:
        """Success rate in per cent."""
        return 100 * self.worked / self.wanted


def tool_rate(runs: QuerySet[Run]) -> ToolRate | None:
    """The rate over the newest of `runs` with tools; None without tool calls."""
    newest = list(runs.filter(scaffold__in=WITH_TOOLS).order_by("-pk").values_list("pk", flat=True)[:MOST_RUNS])
    if not newest:
        return None
    turns = RunEvent.objects.filter(run__in=newest, kind=Kind.TURN_TAKEN)
    counted = dict(turns.order_by().values_list("body__succeeded").annotate(Count("pk")))
    worked, failed = counted.get(True, 0), counted.get(False, 0)
    return ToolRate(worked, worked + failed, len(newest)) if worked + failed else None
