"""Totals of all processes on the operations page: bounds of histograms, counters, and no unmeasured values."""

from typing import Any

from apps.operations.since_the_beginning import COUNTS, SPREADS, total_figures
from apps.processes import metrics
from apps.processes.metrics import METRICS, Totals, totals_read


def test_histograms_are_shown_as_two_bounds_and_counters_as_numbers(valkey: Any) -> None:
    """Nineteen first tokens took under a quarter of a second, on two aliases, and one took a minute."""
    for number in range(20):
        metrics.observe("time_to_first_token_seconds", 0.2 if number < 19 else 60.0, "a" if number % 2 else "b")
    metrics.observe("event_delay_seconds", 99.0)
    metrics.count("prompt_tokens", "a", by=400)
    metrics.count("cached_prompt_tokens", "a", by=100)
    metrics.count("events", "call.retried", by=3)
    metrics.count("events", "call.ended", by=5000)
    metrics.count("lease_renewals", by=1234)
    metrics.push(valkey, at_once=True)
    found = dict(total_figures(totals_read(valkey)))
    assert found["Time to the first token"] == "half within 250 ms, 95 % within 250 ms (20 measured)"
    assert found["Event recorded → open pages"] == "half over the last bound, 95 % over the last bound (1 measured)"
    assert found["Prompt tokens found in a prefix cache"] == "25%"
    assert found["Calls retried after an error"] == "3"
    assert found["Leases renewed"] == "1,234"
    assert "Journal commit" not in found


def test_without_measurements_only_counters_at_zero_are_shown() -> None:
    assert dict(total_figures(Totals({}, {}))) == dict.fromkeys(COUNTS, "0")


def test_every_figure_has_a_metric() -> None:
    assert set(SPREADS) | {name for name, _ in COUNTS.values()} <= set(METRICS)
