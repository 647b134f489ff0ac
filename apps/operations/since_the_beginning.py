"""Totals of all processes for the operations page: histograms as two bounds, counters as numbers."""

from collections.abc import Collection, Mapping

from apps.processes.metrics import Spread, Totals
from apps.reasoning.domain.event_base import Kind

#: Histograms by metric (apps/processes/metrics.py).
SPREADS = {
    "time_to_first_token_seconds": "Time to the first token",
    "call_wait_seconds": "Call sent → result, without the engine’s time",
    "event_delay_seconds": "Event recorded → open pages",
    "journal_commit_seconds": "Journal commit",
}
#: Counters with their labels.
COUNTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "Calls retried after an error": ("events", (Kind.CALL_RETRIED,)),
    "Calls resent because no worker held them": ("calls_redispatched", ()),
    "Leases renewed": ("lease_renewals", ()),
    "Owners that found their run taken over": ("fences_lost", ()),
    "Sockets that requested lost tokens again": ("socket_resyncs", ()),
}


def total_figures(totals: Totals) -> list[tuple[str, str]]:
    """Labels and figures. Unmeasured histograms are left out; counters at 0 are shown."""
    found = []
    for name, words in SPREADS.items():
        parts = totals.spreads.get(name, {}).values()
        if number := sum(part.number for part in parts):
            half, most = (_within(parts, share) for share in (0.5, 0.95))
            found.append((words, f"half {half}, 95 % {most} ({number:,.0f} measured)"))
    if prompts := totals.sum_of("prompt_tokens"):
        found.append(("Prompt tokens found in a prefix cache", f"{totals.sum_of('cached_prompt_tokens') / prompts:.0%}"))
    return [*found, *((words, f"{totals.sum_of(name, *labels):,.0f}") for words, (name, labels) in COUNTS.items())]


def _within(spreads: Collection[Spread], share: float) -> str:
    """The upper bound of the bucket that contains this quantile."""
    wanted, seen = share * sum(spread.number for spread in spreads), 0.0
    for bounds in zip(*(spread.counts for spread in spreads), strict=True):
        seen += sum(count for _, count in bounds)
        if seen >= wanted:
            bound = bounds[0][0]
            return "over the last bound" if bound == "+Inf" else f"within {_seconds(float(bound))}"
    return "unknown"


def _seconds(value: float) -> str:
    return f"{1000 * value:g} ms" if value < 1 else f"{value:g} s"
