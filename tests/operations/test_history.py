"""The history: one sample per interval, rates from totals, gaps in the lines."""

import json
from typing import Any

import pytest
from django.test import Client

from apps.operations import history
from apps.operations.figures import CHARTS, TITLES, history_figures
from apps.operations.history import KEY, TURN_KEY, points, sample_once
from apps.processes import metrics


def put(client: Any, ago_s: float, **sample: float) -> None:
    """Store a sample that is `ago_s` seconds old."""
    seconds, _ = client.time()
    whole = dict.fromkeys(("running", "waiting", "queued", "runs", "stalled", "sockets", "lag", "redis", "database"), 0.0)
    client.xadd(KEY, {"sample": json.dumps({**whole, **sample})}, id=f"{int((seconds - ago_s) * 1000)}-0")


def test_only_one_of_several_orchestrators_writes_a_sample(db: None, valkey: Any) -> None:
    assert sample_once(valkey)
    assert not sample_once(valkey)
    valkey.delete(TURN_KEY)
    assert sample_once(valkey)
    assert valkey.xlen(KEY) == 2


def test_the_history_keeps_a_limited_number_of_samples(db: None, valkey: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "KEPT", 3)
    for _ in range(5):
        valkey.delete(TURN_KEY)
        sample_once(valkey)
    assert valkey.xlen(KEY) == 3


def test_a_sample_holds_totals(db: None, valkey: Any) -> None:
    metrics.count("completion_tokens", "small", by=70)
    metrics.count("events", "call.retried", by=2)
    metrics.count("calls_redispatched", "small")
    metrics.observe("journal_commit_seconds", 0.5)
    metrics.push(valkey, at_once=True)
    assert sample_once(valkey)
    sample = json.loads(valkey.xrange(KEY)[0][1]["sample"])
    assert (sample["tokens"], sample["again"], sample["commit_n"], sample["commit_s"]) == (70, 3, 1, 0.5)
    assert {"event_n", "event_s", "prompt", "cached", "leases"} <= sample.keys()


def test_totals_become_rates_and_a_wiped_redis_gives_no_negative_rate(valkey: Any) -> None:
    for ago_s, tokens in ((90, 100), (80, 600), (70, 50)):
        put(valkey, ago_s, tokens=tokens)
    found = points(valkey, hours=1)
    assert [point.rate("tokens") for point in found] == [None, 50.0, 5.0]


def test_means_cover_the_interval_and_not_all_time(valkey: Any) -> None:
    put(valkey, 90, first_n=1000, first_s=5000)
    put(valkey, 80, first_n=1002, first_s=5001)
    put(valkey, 70, first_n=1002, first_s=5001)
    assert [point.mean("first") for point in points(valkey, hours=1)] == [None, 0.5, None]


def test_the_share_of_cached_tokens_covers_the_interval(valkey: Any) -> None:
    put(valkey, 100)
    put(valkey, 90, prompt=1000, cached=0)
    put(valkey, 80, prompt=1400, cached=100)
    put(valkey, 70, prompt=1400, cached=100)
    assert [point.share("cached", "prompt") for point in points(valkey, hours=1)] == [None, None, 0.25, None]


def test_a_gap_breaks_the_line(valkey: Any) -> None:
    for ago_s in (400, 390, 30, 20):
        put(valkey, ago_s, running=2)
    lines = history_figures(points(valkey, hours=1))["calls"]["data"][0]
    assert lines["name"] == "generating"
    assert list(lines["y"]) == [2, 2, None, 2, 2]


def test_a_long_history_is_thinned(valkey: Any) -> None:
    pipeline = valkey.pipeline()
    seconds, _ = valkey.time()
    for number in range(2000):
        pipeline.xadd(KEY, {"sample": json.dumps({"running": number})}, id=f"{(seconds - 20_000 + number * 10) * 1000}-0")
    pipeline.execute()
    found = points(valkey, hours=24)
    assert len(found) <= history.MOST_POINTS
    assert found[-1].sample["running"] == 1999
    assert len(points(valkey, hours=1)) == pytest.approx(360, abs=2)


def test_every_chart_has_a_title_and_is_served_as_json(staff: Client, valkey: Any) -> None:
    assert list(CHARTS) == list(TITLES)
    put(valkey, 10, running=1)
    answer = staff.get("/operations/history.json?hours=6")
    assert set(answer.json()) == set(CHARTS)
