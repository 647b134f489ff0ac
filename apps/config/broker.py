"""kombu's Redis transport with one client per channel.

kombu makes a new `redis.Redis` for every command, which was a tenth of an inference worker's time without a model
(benchmarks/orchestration.py); the client holds no connection of its own, the pool does. It also asks the broker to forget
messages of queues that are read without acknowledgement, which the broker never noted: two commands for nothing. And a process
that holds enough of a queue's ordinary messages can go on reading the urgent ones.
"""

from collections.abc import Callable, Collection
from time import monotonic
from typing import Any, ClassVar

from kombu.transport import redis


class Channel(redis.Channel):
    """Keeps its client as long as its pool; a pool that was given up after an error takes the client with it.

    `crowded` names the queues of which this process takes only messages of a priority number up to `urgent` just now.
    """

    crowded: ClassVar[Callable[[], Collection[str]]] = staticmethod(tuple)
    urgent: ClassVar[int] = 3

    _kept: tuple[Any, Any] | None = None

    def _create_client(self, asynchronous: bool = False) -> Any:
        if asynchronous:
            return super()._create_client(asynchronous=True)  # type: ignore[misc]  # The stubs leave it out.
        pool = self.pool
        if self._kept is None or self._kept[0] is not pool:
            self._kept = (pool, super()._create_client())  # type: ignore[misc]
        return self._kept[1]

    def _brpop_start(self, timeout: float | None = None) -> None:
        """As kombu does it, but for the lists of crowded queues."""
        queues = self._queue_cycle.consume(len(self.active_queues))  # type: ignore[attr-defined]  # The stubs leave it out.
        if not queues:
            return
        crowded = type(self).crowded()
        keys = [
            self._q_for_pri(queue, step)  # type: ignore[attr-defined]
            for step in self.priority_steps
            for queue in queues
            if step <= self.urgent or queue not in crowded
        ]
        self._in_poll = self.client.connection
        self._brpop_sent_at = monotonic()
        self.client.connection.send_command("BRPOP", *keys, timeout or self.brpop_timeout or 0)

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        """Celery acknowledges whatever it read; for a queue read with `no_ack` there is nothing to tell the broker."""
        if multiple or delivery_tag in (self.qos._delivered or ()):
            super().basic_ack(delivery_tag, multiple=multiple)


class Transport(redis.Transport):
    """The transport of every broker address of ours; see `TRANSPORT_ALIASES` in celery.py."""

    Channel = Channel
