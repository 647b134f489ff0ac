"""Heartbeats are found by a list of their names: in a Redis full of results a scan of all keys takes longer than a call."""

from typing import Any

from apps.processes.streams import WORKERS_KEY, Heartbeat, heartbeat_publish, heartbeats


def beat_of(worker: str) -> Heartbeat:
    return {"worker": worker, "aliases": ["small"], "active": [], "health": {}}


def test_every_live_worker_is_found(valkey: Any) -> None:
    for worker in ("a/1", "b/2", "a/1"):
        heartbeat_publish(valkey, beat_of(worker), 60_000)
    assert [beat["worker"] for beat in heartbeats(valkey)] == ["a/1", "b/2"]


def test_a_dead_worker_is_forgotten_and_may_come_back(valkey: Any) -> None:
    for worker in ("a/1", "b/2"):
        heartbeat_publish(valkey, beat_of(worker), 60_000)
    valkey.delete("hb:a/1")  # As its time to live does.
    assert [beat["worker"] for beat in heartbeats(valkey)] == ["b/2"]
    assert valkey.smembers(WORKERS_KEY) == {"hb:b/2"}
    heartbeat_publish(valkey, beat_of("a/1"), 60_000)
    assert len(heartbeats(valkey)) == 2
