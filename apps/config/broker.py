"""kombu's Redis transport with one client per channel.

kombu creates a new `redis.Redis` for every command. That took a tenth of an inference worker's time without a model
(benchmarks/orchestration.py). The client can be shared, because connections belong to the pool.

kombu also acknowledges messages of queues that are read without acknowledgement: two useless commands, omitted here.

A process that holds enough of a queue's ordinary messages still reads its urgent ones, until it reports room again.
"""

import logging
from collections.abc import Callable, Collection
from time import monotonic
from typing import Any, ClassVar

from kombu.transport import redis
from redis.exceptions import RedisError, ResponseError

logger = logging.getLogger(__name__)
#: Seconds until the next check when no thread is free, or when the broker has not begun the wait to end.
RETRY_S = 0.01
#: Seconds of each wait for urgent messages of crowded queues, if the broker does not allow CLIENT UNBLOCK.
POLL_S = 0.1


class Channel(redis.Channel):
    """A channel with one client for the lifetime of its pool. kombu replaces the pool after an error.

    `crowded` returns the queues of which this process currently takes only messages with a priority number up to `urgent`.
    """

    crowded: ClassVar[Callable[[], Collection[str]]] = staticmethod(tuple)
    urgent: ClassVar[int] = 3

    _kept: tuple[Any, Any] | None = None
    _left_out: frozenset[str] = frozenset()
    _number: tuple[Any, int] | None = None

    def _create_client(self, asynchronous: bool = False) -> Any:
        if asynchronous:
            return super()._create_client(asynchronous=True)  # type: ignore[misc]  # The stubs leave it out.
        pool = self.pool
        if self._kept is None or self._kept[0] is not pool:
            self._kept = (pool, super()._create_client())  # type: ignore[misc]
        return self._kept[1]

    def _brpop_start(self, timeout: float | None = None) -> None:
        """Like kombu's method, but without the ordinary lists of crowded queues."""
        queues = self._queue_cycle.consume(len(self.active_queues))  # type: ignore[attr-defined]  # The stubs leave it out.
        if not queues:
            return
        crowded = type(self).crowded()
        self._left_out = frozenset(crowded).intersection(queues)
        if self._left_out and not self._client_number():
            timeout = POLL_S
        keys = [
            self._q_for_pri(queue, step)  # type: ignore[attr-defined]
            for step in self.priority_steps
            for queue in queues
            if step <= self.urgent or queue not in crowded
        ]
        self._in_poll = self.client.connection
        self._brpop_sent_at = monotonic()
        self.client.connection.send_command("BRPOP", *keys, timeout or self.brpop_timeout or 0)

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[misc]  # The stubs leave it out.
        finally:
            if not self.qos.can_consume():
                self.connection.check_soon()  # type: ignore[attr-defined]  # Our transport, below.

    def retry_crowded(self) -> bool:
        """End a wait that leaves out a queue which is no longer crowded. True if this must be called again soon."""
        if not self._in_poll:
            return bool(self.active_queues) and not self.qos.can_consume()
        if self._left_out.issubset(type(self).crowded()):
            return False
        is_ended = self._end_wait(self._client_number())
        if is_ended:
            self._left_out = frozenset()
        return not is_ended

    def _end_wait(self, number: int) -> bool:
        """End the wait. False if the broker has not begun it yet, or has already sent a message."""
        try:
            return not number or bool(self._create_client().execute_command("CLIENT UNBLOCK", number))
        except ResponseError as error:
            self._number = self._without_unblock(error)
        except (RedisError, OSError) as error:
            logger.debug("could not end a wait for messages: %s", error)
        return True

    def _client_number(self) -> int:
        """The broker's id of the connection that waits for messages; 0 if the broker does not allow CLIENT UNBLOCK."""
        connection = self.client.connection
        if self._number is None or self._number[0] is not connection._sock:
            try:
                connection.send_command("CLIENT", "ID")
                self._number = connection._sock, int(connection.read_response())
            except ResponseError as error:
                self._number = self._without_unblock(error)
        return self._number[1]

    def _without_unblock(self, error: ResponseError) -> tuple[Any, int]:
        logger.warning("the broker does not allow CLIENT UNBLOCK (%s); polling crowded queues every %s s", error, POLL_S)
        return self.client.connection._sock, 0

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        """Acknowledge a message unless its queue is read with `no_ack`: Celery acknowledges every message."""
        if multiple or delivery_tag in (self.qos._delivered or ()):
            super().basic_ack(delivery_tag, multiple=multiple)


class Transport(redis.Transport):
    """The transport of all our broker addresses; see `TRANSPORT_ALIASES` in celery.py."""

    Channel = Channel

    #: The transport that this process reads messages with.
    reading: ClassVar["Transport | None"] = None

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        """Like kombu's method. Also makes this the transport that `room_freed` wakes."""
        super().register_with_event_loop(connection, loop)
        self._loop, self._checks_again = loop, False
        type(self).reading = self

    def check_soon(self) -> None:
        """Check for room in the loop's next turn, from any thread; without a loop nothing happens."""
        if loop := getattr(self, "_loop", None):
            loop.call_soon(self._check)

    def _check(self) -> None:
        cycle: Any = self.cycle
        pending = [channel.retry_crowded() for channel in list(cycle._channels)]
        if any(pending) and not self._checks_again:
            self._checks_again = True
            self._loop.call_later(RETRY_S, self._check_again)

    def _check_again(self) -> None:
        self._checks_again = False
        self._check()


def room_freed() -> None:
    """Read ordinary messages of a queue that is no longer crowded. May be called from any thread."""
    if Transport.reading is not None:
        Transport.reading.check_soon()
