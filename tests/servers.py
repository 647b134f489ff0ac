"""Real servers for tests, each private to the test process."""

import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from pytest_django import Settings

from apps.config.stack import valkey_binary
from apps.processes import streams


def start_valkey(folder: Path) -> "subprocess.Popen[bytes]":
    """Start Valkey on `folder/valkey.sock`, with an append-only file like the embedded one. Returns when it answers."""
    command = [
        valkey_binary(), "--port", "0", "--unixsocket", str(folder / "valkey.sock"), "--dir", str(folder),
        "--appendonly", "yes", "--appendfsync", "everysec", "--save", "",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    client = redis.Redis(unix_socket_path=str(folder / "valkey.sock"))
    for _ in range(1200):
        try:
            client.ping()
        except redis.exceptions.RedisError:
            time.sleep(0.05)
        else:
            return process
        finally:
            client.close()
    raise RuntimeError("Valkey did not start")


@pytest.fixture(scope="session")
def _valkey_url() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="ls-valkey-") as folder:
        process = start_valkey(Path(folder))
        yield f"unix://{folder}/valkey.sock?db=0"
        process.terminate()
        process.wait(timeout=10)


@pytest.fixture
def valkey(_valkey_url: str, settings: Settings) -> Iterator["redis.Redis"]:
    """An empty Valkey that the application's clients use."""
    settings.REDIS_URL = _valkey_url
    streams.sync_client.cache_clear()
    client = streams.sync_client()
    client.flushall()
    yield client
    client.close()
    streams.sync_client.cache_clear()
