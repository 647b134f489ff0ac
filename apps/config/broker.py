"""kombu's Redis transport with one client per channel.

kombu makes a new `redis.Redis` for every command, which was a tenth of an inference worker's time without a model
(benchmarks/orchestration.py); the client holds no connection of its own, the pool does. It also asks the broker to forget
messages of queues that are read without acknowledgement, which the broker never noted: two commands for nothing.
"""

from typing import Any

from kombu.transport import redis


class Channel(redis.Channel):
    """Keeps its client as long as its pool; a pool that was given up after an error takes the client with it."""

    _kept: tuple[Any, Any] | None = None

    def _create_client(self, asynchronous: bool = False) -> Any:
        if asynchronous:
            return super()._create_client(asynchronous=True)  # type: ignore[misc]  # The stubs leave it out.
        pool = self.pool
        if self._kept is None or self._kept[0] is not pool:
            self._kept = (pool, super()._create_client())  # type: ignore[misc]
        return self._kept[1]

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        """Celery acknowledges whatever it read; for a queue read with `no_ack` there is nothing to tell the broker."""
        if multiple or delivery_tag in (self.qos._delivered or ()):
            super().basic_ack(delivery_tag, multiple=multiple)


class Transport(redis.Transport):
    """The transport of every broker address of ours; see `TRANSPORT_ALIASES` in celery.py."""

    Channel = Channel
