"""Processes add increments to Redis, so totals only grow even if a process dies."""

from typing import Any

import pytest
from redis.exceptions import RedisError

from apps.processes import metrics


def test_counts_of_two_processes_add_up(valkey: Any) -> None:
    metrics.count("calls_ended", "small", "stop", by=3)
    metrics.push(valkey, at_once=True)
    metrics.count("calls_ended", "small", "stop")  # Another process, after the first has died.
    metrics.count("calls_ended", "small", "EngineLost")
    metrics.push(valkey, at_once=True)
    totals = metrics.totals_read(valkey)
    assert totals.counters["calls_ended"] == {("small", "stop"): 4.0, ("small", "EngineLost"): 1.0}
    assert totals.sum_of("calls_ended", "small") == 5.0
    assert totals.sum_of("calls_ended", "other") == 0.0


def test_a_value_falls_into_the_first_bucket_with_a_bound_not_below_it(valkey: Any) -> None:
    for value in (0.1, 0.1001, 5000.0):
        metrics.observe("call_seconds", value, "small")
    metrics.push(valkey, at_once=True)
    spread = metrics.totals_read(valkey).spreads["call_seconds"]["small",]
    assert {bound for bound, number in spread.counts if number} == {"0.1", "0.25", "+Inf"}
    assert spread.number == 3
    assert spread.total == pytest.approx(5000.2001)


def test_counts_are_sent_at_most_every_two_seconds(valkey: Any) -> None:
    metrics.count("lease_renewals")
    metrics.push(valkey)
    metrics.count("lease_renewals")
    metrics.push(valkey)
    assert metrics.totals_read(valkey).sum_of("lease_renewals") == 1.0
    metrics.push(valkey, at_once=True)
    assert metrics.totals_read(valkey).sum_of("lease_renewals") == 2.0


def test_counts_that_redis_did_not_receive_are_kept(valkey: Any) -> None:
    class Away:
        def pipeline(self, transaction: bool) -> Any:
            raise RedisError("away")

    metrics.count("lease_renewals")
    with pytest.raises(RedisError):
        metrics.push(Away(), at_once=True)
    metrics.count("lease_renewals")
    metrics.push(valkey, at_once=True)
    assert metrics.totals_read(valkey).sum_of("lease_renewals") == 2.0


def test_fields_of_another_version_are_ignored(valkey: Any) -> None:
    valkey.hincrbyfloat(metrics.TOTALS_KEY, "gone\x1fx", 1)
    valkey.hincrbyfloat(metrics.TOTALS_KEY, "calls_ended\x1fonly an alias", 1)
    totals = metrics.totals_read(valkey)
    assert not totals.counters
    assert not totals.spreads
