"""A socket opens for pages of its own origin, including the port, and for existing URLs. All else gets a 403."""

from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from pytest_django import Settings

from apps.config.sockets import SameOrigin, sockets

OWN = "http://localhost:8000"
#: A refused socket closes its database connection, which an earlier test may have left.
pytestmark = pytest.mark.django_db


async def accepting(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})


async def answer(application: Any, origin: str | None, path: str = "/ws/", host: str = "localhost:8000") -> str:
    headers = [(b"host", host.encode()), *([(b"origin", origin.encode())] if origin is not None else [])]
    scope = {"type": "websocket", "path": path, "query_string": b"", "headers": headers, "subprotocols": []}
    socket: Any = ApplicationCommunicator(application, scope)  # type: ignore[no-untyped-call]
    await socket.send_input({"type": "websocket.connect"})
    output = await socket.receive_output(5)
    await socket.send_input({"type": "websocket.disconnect", "code": 1005})
    await socket.wait(5)
    return str(output["type"])


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        (OWN, "localhost:8000"),
        ("http://localhost", "localhost"),
        ("http://localhost:80", "localhost"),
        ("http://LOCALHOST:8000", "localhost:8000"),
    ],
)
async def test_a_page_of_the_same_origin_is_admitted(origin: str, host: str) -> None:
    assert await answer(SameOrigin(accepting), origin, host=host) == "websocket.accept"


@pytest.mark.parametrize(
    "origin",
    ["http://localhost:8001", "http://localhost", "https://localhost:8000", "http://127.0.0.1:8000", "http://localhost.evil.example:8000",
     "null", "", None, "http://[", "http://localhost:x"],
)  # fmt: skip
async def test_another_port_scheme_or_host_is_refused(origin: str | None) -> None:
    assert await answer(SameOrigin(accepting), origin) == "websocket.close"


async def test_a_foreign_host_makes_no_origin_ours() -> None:
    assert await answer(SameOrigin(accepting), "http://evil.example", host="evil.example") == "websocket.close"


async def test_behind_tls_https_pages_and_trusted_origins_are_admitted(settings: Settings) -> None:
    settings.HTTPS = True
    settings.CSRF_TRUSTED_ORIGINS = ["https://*.example.org"]
    assert await answer(SameOrigin(accepting), "https://localhost", host="localhost") == "websocket.accept"
    assert await answer(SameOrigin(accepting), "https://proofs.example.org") == "websocket.accept"
    assert await answer(SameOrigin(accepting), "http://localhost", host="localhost") == "websocket.close"


@pytest.mark.parametrize("path", ["/ws/", "/ws/runs/nonsense/", "/ws/runs/c3ca216a-ac99-42ce-9a3a-0a8759e5c70e", "/"])
async def test_an_unknown_url_is_refused_without_an_error(path: str) -> None:
    assert await answer(sockets, OWN, path) == "websocket.close"
