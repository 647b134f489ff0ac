"""Sizes and delays of the stores: Redis, the results in it, the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from apps.processes.streams import results_key


@dataclass(frozen=True)
class RedisState:
    """State of Redis; memory in bytes. `limit` 0: no limit set. `is_saving`: the last write to disk succeeded."""

    used: int
    peak: int
    limit: int
    keys: int
    clients: int
    is_saving: bool

    @property
    def share(self) -> float | None:
        """Share of the limit in use; None without a limit."""
        return self.used / self.limit if self.limit else None


def redis_state(client: Any) -> RedisState:
    """Read the state of Redis. Raises `RedisError`."""
    memory, disk, clients = client.info("memory"), client.info("persistence"), client.info("clients")
    return RedisState(
        used=int(memory["used_memory"]),
        peak=int(memory["used_memory_peak"]),
        limit=int(memory.get("maxmemory", 0)),
        keys=int(client.dbsize()),
        clients=int(clients["connected_clients"]),
        is_saving=disk.get("aof_last_write_status", "ok") == "ok" and disk.get("rdb_last_bgsave_status", "ok") == "ok",
    )


def results_waiting(client: Any, runs: Sequence[str]) -> tuple[int, float]:
    """Number of results of these runs that are not in the journal yet, and the age of the oldest in seconds.

    Stream ids are times of the Redis server, so only its clock is used.
    """
    if not runs:
        return 0, 0.0
    pipeline = client.pipeline(transaction=False)
    pipeline.time()
    for run in runs:
        pipeline.xlen(results_key(run))
        pipeline.xrange(results_key(run), count=1)
    (seconds, micros), *answers = pipeline.execute()
    firsts = [int(entries[0][0].split("-")[0]) for entries in answers[1::2] if entries]
    oldest_ms = min(firsts, default=None)
    lag_s = 0.0 if oldest_ms is None else max(0.0, seconds + micros / 1e6 - oldest_ms / 1e3)
    return sum(answers[0::2]), lag_s


def database_bytes() -> int:
    """Size of the database in bytes."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_database_size(current_database())")
        else:
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
        return int(cursor.fetchone()[0])
