"""A broker that accepts a connection and then stays silent: sending times out and can be retried."""

import socket
import time
from collections.abc import Iterator

import pytest
from django.conf import settings
from kombu import Connection, Queue
from kombu.exceptions import OperationalError

from apps.config.celery import app

assert app


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port where the kernel accepts connections and no program answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_sending_to_a_silent_broker_fails_in_time(silent_port: int) -> None:
    options = settings.CELERY_BROKER_TRANSPORT_OPTIONS | {"socket_timeout": 0.3}
    began = time.monotonic()
    with (
        pytest.raises((OperationalError, OSError)),
        Connection(f"redis://127.0.0.1:{silent_port}/0", transport_options=options) as connection,
    ):
        connection.Producer(serializer="json").publish("a call", routing_key="calls", declare=[Queue("calls")])
    assert time.monotonic() - began < 10.0


def test_the_timeout_is_set_and_longer_than_a_blocking_read() -> None:
    """kombu waits one second for a message in each read; a shorter timeout would break every idle connection."""
    limit = settings.CELERY_BROKER_TRANSPORT_OPTIONS["socket_timeout"]
    assert isinstance(limit, int)
    assert 1 < limit <= 30
