"""kombu's Redis transport with one client per channel.

kombu makes a new `redis.Redis` for every command, which was a tenth of an inference worker's time without a model
(benchmarks/orchestration.py); the client holds no connection of its own, the pool does. It also asks the broker to forget
messages of queues that are read without acknowledgement, which the broker never noted: two commands for nothing. And a process
that holds enough of a queue's ordinary messages can go on reading the urgent ones, until it says that there is room again.
"""

import logging
from collections.abc import Callable, Collection
from time import monotonic
from typing import Any, ClassVar

from kombu.transport import redis
from redis.exceptions import RedisError, ResponseError

logger = logging.getLogger(__name__)
#: How soon to look again where no thread is free, or where the broker did not know yet what to end.
LOOK_S = 0.01
#: How long to wait for urgent messages of crowded queues where the broker lets nobody end a wait, in seconds.
UNENDED_S = 0.1


class Channel(redis.Channel):
    """Keeps its client as long as its pool; a pool that was given up after an error takes the client with it.

    `crowded` names the queues of which this process takes only messages of a priority number up to `urgent` just now.
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
        """As kombu does it, but for the lists of crowded queues."""
        queues = self._queue_cycle.consume(len(self.active_queues))  # type: ignore[attr-defined]  # The stubs leave it out.
        if not queues:
            return
        crowded = type(self).crowded()
        self._left_out = frozenset(crowded).intersection(queues)
        if self._left_out and not self._client_number():
            timeout = UNENDED_S
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
                self.connection.look_soon()  # type: ignore[attr-defined]  # Our transport, below.

    def look_for_room(self) -> bool:
        """End a wait that leaves out a queue which is not crowded any more; true where this has to be asked again soon."""
        if not self._in_poll:
            return bool(self.active_queues) and not self.qos.can_consume()
        if self._left_out.issubset(type(self).crowded()):
            return False
        is_ended = self._end_wait(self._client_number())
        if is_ended:
            self._left_out = frozenset()
        return not is_ended

    def _end_wait(self, number: int) -> bool:
        """False where the broker has not begun the wait yet, or has a message on its way."""
        try:
            return not number or bool(self._create_client().execute_command("CLIENT UNBLOCK", number))
        except ResponseError as error:
            self._number = self._refused(error)
        except (RedisError, OSError) as error:
            logger.debug("the broker did not end a wait: %s", error)
        return True

    def _client_number(self) -> int:
        """The broker's number of the connection that waits for messages; 0 where it lets nobody end a wait."""
        connection = self.client.connection
        if self._number is None or self._number[0] is not connection._sock:
            try:
                connection.send_command("CLIENT", "ID")
                self._number = connection._sock, int(connection.read_response())
            except ResponseError as error:
                self._number = self._refused(error)
        return self._number[1]

    def _refused(self, error: ResponseError) -> tuple[Any, int]:
        logger.warning("the broker lets nobody end a wait (%s): crowded queues are asked every %s s", error, UNENDED_S)
        return self.client.connection._sock, 0

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        """Celery acknowledges whatever it read; for a queue read with `no_ack` there is nothing to tell the broker."""
        if multiple or delivery_tag in (self.qos._delivered or ()):
            super().basic_ack(delivery_tag, multiple=multiple)


class Transport(redis.Transport):
    """The transport of every broker address of ours; see `TRANSPORT_ALIASES` in celery.py."""

    Channel = Channel

    #: The one that this process reads messages with.
    reading: ClassVar["Transport | None"] = None

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        """As kombu does it; from now on this is the transport that `room_came` wakes."""
        super().register_with_event_loop(connection, loop)
        self._loop, self._looks_again = loop, False
        type(self).reading = self

    def look_soon(self) -> None:
        """Look for room in the loop's next turn, from any thread; nothing where no loop reads."""
        if loop := getattr(self, "_loop", None):
            loop.call_soon(self._look)

    def _look(self) -> None:
        cycle: Any = self.cycle
        looks = [channel.look_for_room() for channel in list(cycle._channels)]
        if any(looks) and not self._looks_again:
            self._looks_again = True
            self._loop.call_later(LOOK_S, self._look_again)

    def _look_again(self) -> None:
        self._looks_again = False
        self._look()


def room_came() -> None:
    """A queue of this process is not crowded any more: read its ordinary messages again, now. From any thread."""
    if Transport.reading is not None:
        Transport.reading.look_soon()
