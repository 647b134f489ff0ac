"""`/metrics`: its values, and who may read them."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from apps.operations.exposition import PREFIX
from apps.processes import metrics, pulse
from apps.processes.streams import sync_client

TOKEN = "a token of the tests"


def samples(client: Client) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Values of a scrape with the right token, by name and labels."""
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    return {
        (sample.name.removeprefix(PREFIX), tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


@pytest.fixture
def scraper(db: None, valkey: Any, settings: Settings) -> Client:
    settings.METRICS_TOKEN = TOKEN
    return Client()


def test_queues_are_exported_by_priority(scraper: Client, valkey: Any) -> None:
    valkey.lpush("inference.worked-example", "urgent")
    valkey.lpush("inference.worked-example\x06\x166", "batch", "batch")
    found = samples(scraper)
    at = ("alias", "worked-example")
    assert found["queue_length", (at, ("priority", "0"))] == 1
    assert found["queue_length", (at, ("priority", "6"))] == 2
    assert found["workers", (at,)] == 0


def test_workers_are_summed_and_the_fullest_memory_counts(scraper: Client, worker_beats: Callable[..., None]) -> None:
    worker_beats("gpu1/7", running=3, waiting=1, tokens_per_s=50.0, cached_share=0.5, cache_used=0.2)
    worker_beats("gpu2/9", running=4, tokens_per_s=60.0, cached_share=0.7, cache_used=0.9)
    found = samples(scraper)
    at = (("alias", "worked-example"),)
    assert (found["calls_running", at], found["calls_waiting", at], found["tokens_per_second", at]) == (7, 1, 110)
    assert found["prefix_cache_hit_ratio", at] == pytest.approx(0.6)
    assert found["kv_cache_usage_ratio", at] == 0.9
    assert ("kv_cache_usage_ratio", (("alias", "smollm2"),)) not in found  # Without a report there is no value.
    assert found["processes", (("kind", "inference"),)] == 2


def test_levels_of_processes_are_sent_with_their_pulse(scraper: Client, valkey: Any) -> None:
    metrics.move("sockets", 5)
    metrics.move("sockets", -2)
    pulse.beat(valkey, "web", 0.0)
    found = samples(scraper)
    assert found["sockets_open", ()] == 3
    assert found["processes", (("kind", "web"),)] == 1
    assert found["processes", (("kind", "orchestrator"),)] == 0


def test_a_histogram_adds_up_to_its_count(scraper: Client, valkey: Any) -> None:
    for seconds in (0.004, 0.2, 0.2, 99.0):
        metrics.observe("journal_commit_seconds", seconds)
    metrics.push(valkey, at_once=True)
    found = samples(scraper)
    assert found["journal_commit_seconds_bucket", (("le", "0.005"),)] == 1
    assert found["journal_commit_seconds_bucket", (("le", "0.25"),)] == 3
    assert found["journal_commit_seconds_bucket", (("le", "+Inf"),)] == found["journal_commit_seconds_count", ()] == 4
    assert found["journal_commit_seconds_sum", ()] == pytest.approx(99.404)


def test_a_label_cannot_break_the_format(scraper: Client, valkey: Any) -> None:
    metrics.count("calls_ended", 'an "alias"\nlemmascope_forged 1', "stop")
    metrics.push(valkey, at_once=True)
    assert not any(name == "forged" for name, _ in samples(scraper))


def test_without_redis_the_database_figures_are_still_exported(scraper: Client, settings: Settings) -> None:
    settings.REDIS_URL = "unix:///nowhere/at/all.sock"
    sync_client.cache_clear()
    found = samples(scraper)
    assert found["redis_up", ()] == 0
    assert found["runs", (("status", "running"),)] == 0
    assert not any(name == "queue_length" for name, _ in found)


def test_a_redis_that_hangs_does_not_block_a_scrape(scraper: Client, valkey: Any) -> None:
    valkey.client_pause(4000)
    began = time.monotonic()
    found = samples(scraper)
    took = time.monotonic() - began
    valkey.client_unpause()  # Waits for the pause to end, so that the next test has a server.
    assert took < 3.5
    assert found["redis_up", ()] == 0


@pytest.mark.parametrize("header", ["", "Bearer ", "Bearer wrong", f"Basic {TOKEN}", TOKEN])
def test_a_wrong_token_is_rejected(scraper: Client, header: str) -> None:
    answer = scraper.get("/metrics", headers={"Authorization": header})
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert PREFIX not in answer.content.decode()


def test_without_a_token_in_the_settings_every_token_is_rejected(scraper: Client, settings: Settings) -> None:
    settings.METRICS_TOKEN = ""
    assert scraper.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 401


def test_staff_can_read_metrics_in_the_browser(scraper: Client, staff: Client) -> None:
    assert staff.get("/metrics").status_code == 200


def test_every_metric_is_explained(scraper: Client, worker_beats: Callable[..., None]) -> None:
    worker_beats(cached_share=0.5, cache_used=0.5)
    text = scraper.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).content.decode()
    exported = set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))
    explained = set(re.findall(r"`(lemmascope_\w+)", (Path(django_settings.BASE_DIR) / "docs/operations.md").read_text()))
    assert len(exported) > 30
    assert exported == explained
