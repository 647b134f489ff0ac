"""`python -m apps.config.probe`: the health checks of containers."""

import http.server
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import pytest
import redis
from pytest_django import Settings

from apps.config.probe import has_heartbeat, main, web_answers
from apps.processes.pulse import beat


@contextmanager
def web(status: int) -> Iterator[tuple[int, dict[str, str]]]:
    """A server that answers /healthz with a status and stores the headers of the request."""
    asked: dict[str, str] = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.update({name.lower(): value for name, value in self.headers.items()}, path=self.path)
            self.send_response(status)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1], asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_web_process_that_answers_is_alive(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = [".example.org"]
    with web(200) as (port, asked):
        assert web_answers("127.0.0.1", port) == (True, "The web process answers 200.")
    assert asked == {**asked, "path": "/healthz", "host": "example.org", "x-forwarded-proto": "https"}


@pytest.mark.parametrize("status", [301, 400, 500, 503])
def test_a_web_process_that_answers_anything_else_is_not(status: int) -> None:
    with web(status) as (port, _):
        assert web_answers("127.0.0.1", port) == (False, f"The web process answers {status}.")


def test_a_web_process_that_is_gone_is_not_alive(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        settings.PORT = taken.getsockname()[1]
        assert main(["web"]) == 1
    assert "does not answer" in capsys.readouterr().out


def test_a_worker_with_a_heartbeat_on_this_machine_is_alive(valkey: "redis.Redis") -> None:
    valkey.set(f"hb:{socket.gethostname()}/7", "{}", px=3000)
    assert has_heartbeat("inference")[0]
    assert main(["inference"]) == 0


def test_a_heartbeat_of_another_machine_or_kind_is_not_ours(valkey: "redis.Redis") -> None:
    valkey.set("hb:elsewhere/7", "{}", px=3000)
    valkey.set(f"pulse:web:{socket.gethostname()}/7", "{}", px=3000)
    assert has_heartbeat("inference") == (False, f"No heartbeat of an inference process on {socket.gethostname()}.")
    assert main(["orchestrator"]) == 1


@pytest.mark.parametrize("kind", ["orchestrator", "trainer"])
def test_an_orchestrator_and_a_train_worker_are_found_by_their_real_pulse(
    valkey: "redis.Redis", kind: Literal["orchestrator", "trainer"]
) -> None:
    assert main([kind]) == 1
    beat(valkey, kind, 0.0)
    assert main([kind]) == 0


def test_an_unreachable_broker_is_reported(settings: Settings, tmp_path: object) -> None:
    client = redis.Redis(unix_socket_path=f"{tmp_path}/missing.sock")
    is_alive, found = has_heartbeat("inference", client)
    assert not is_alive
    assert "Redis does not answer" in found


@pytest.mark.parametrize("arguments", [[], ["database"], ["web", "inference"]])
def test_an_unknown_kind_is_rejected(arguments: list[str]) -> None:
    assert main(arguments) == 2
