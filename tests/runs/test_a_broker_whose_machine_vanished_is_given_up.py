"""A vanished machine does not close its connections; a patient reader must learn of it from the kernel."""

import asyncio
import contextlib
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings
from redis.exceptions import ConnectionError as RedisConnectionError

from apps.config.stack import valkey_binary
from apps.processes.streams import async_client
from tests.browser.screenshot import free_port

pytestmark = pytest.mark.asyncio


@pytest.mark.skipif(sys.platform != "linux", reason="the options have other names elsewhere")
async def test_the_kernel_asks_after_a_silent_broker_and_gives_it_up(settings: Settings, tmp_path: Path) -> None:
    """A test cannot make a machine vanish, so this reads the kernel's options from the socket."""
    port = free_port()
    command = [valkey_binary(), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(tmp_path), "--save", ""]
    broker = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    settings.REDIS_URL = f"redis://127.0.0.1:{port}/0"
    client: Any = async_client()
    try:
        for _ in range(200):
            with contextlib.suppress(RedisConnectionError):
                await client.ping()
                break
            await asyncio.sleep(0.05)
        connection = await client.connection_pool.get_connection()
        options = connection._writer.get_extra_info("socket")
        assert options.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        patience_s = options.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
        patience_s += options.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL) * options.getsockopt(
            socket.IPPROTO_TCP, socket.TCP_KEEPCNT
        )
        assert patience_s <= 30
        assert options.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 30_000, "also while something is on its way"
        await client.connection_pool.release(connection)
    finally:
        await client.aclose()
        broker.terminate()
        broker.wait(timeout=10)


async def test_a_broker_on_this_machine_has_no_such_connection(settings: Settings, tmp_path: Path) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/none.sock?db=0"
    client: Any = async_client()
    with pytest.raises(RedisConnectionError):
        await client.ping()
    await client.aclose()
