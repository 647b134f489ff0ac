"""Viewers for each server's protocol: our run socket, a plain socket, Chainlit's socket.io, Gradio's queue."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from benchmarks.pages.watching import Viewer


class SocketViewer(Viewer):
    """A WebSocket. Sends the `hello` frames at once, then reads frames until one contains `ready`."""

    def __init__(
        self, address: str, *, headers: Mapping[str, str] | None = None, hello: tuple[str, ...] = (), ready: str = ""
    ) -> None:
        self._address, self._headers = address, headers
        self._hello, self._ready = hello, ready
        self._socket: ClientConnection

    async def open(self) -> None:
        self._socket = await connect(
            self._address, additional_headers=self._headers, compression=None, max_size=None, open_timeout=60
        )
        for frame in self._hello:
            await self._socket.send(frame)
        while self._ready not in str(await self._socket.recv()):
            pass

    async def frames(self) -> AsyncIterator[str]:
        with suppress(ConnectionClosed):
            async for frame in self._socket:
                yield str(frame)

    async def close(self) -> None:
        await self._socket.close()


def run_socket(address: str, run: str, call: str, cookie: tuple[str, str]) -> SocketViewer:
    """A viewer of one call of our run."""
    headers = {"Cookie": "=".join(cookie), "Origin": f"http://{address}"}
    watch = json.dumps({"t": "watch", "calls": [call]})
    return SocketViewer(f"ws://{address}/ws/runs/{run}/?after=0", headers=headers, hello=(watch,), ready='"t": "text"')


class ChainlitViewer(Viewer):
    """A separate chat: engine.io packets 0–4 with socket.io packets inside, without polling."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._socket: ClientConnection

    async def open(self) -> None:
        self._socket = await connect(
            f"ws://{self._address}/ws/socket.io/?EIO=4&transport=websocket", compression=None, max_size=None, open_timeout=60
        )
        auth = {"sessionId": str(uuid.uuid4()), "clientType": "webapp", "userEnv": "{}", "chatProfile": "", "threadId": ""}
        await self._until("0")
        await self._socket.send("40" + json.dumps(auth))
        await self._until("40")
        await self._emit("connection_successful")
        await self._until('42["clear_call_fn"')

    async def begin(self) -> None:
        message = {
            "id": str(uuid.uuid4()),
            "name": "viewer",
            "type": "user_message",
            "output": "Write.",
            "createdAt": "2026-01-01T00:00:00Z",
        }
        await self._emit("client_message", {"message": message, "fileReferences": []})

    async def frames(self) -> AsyncIterator[str]:
        with suppress(ConnectionClosed):
            async for frame in self._socket:
                if frame == "2":
                    await self._socket.send("3")
                yield str(frame)

    async def close(self) -> None:
        await self._socket.close()

    async def _emit(self, name: str, *data: Any) -> None:
        await self._socket.send("42" + json.dumps([name, *data]))

    async def _until(self, start: str) -> None:
        while not str(await self._socket.recv()).startswith(start):
            pass


class GradioViewer(Viewer):
    """A separate session: the question by POST, the answer as server-sent events."""

    def __init__(self, address: str) -> None:
        self._host, _, port = address.partition(":")
        self._port = int(port)
        self._session = uuid.uuid4().hex
        self._begun = asyncio.Event()
        self._writer: asyncio.StreamWriter | None = None

    async def begin(self) -> None:
        body = json.dumps(
            {"data": ["Write."], "fn_index": 0, "session_hash": self._session, "event_data": None, "trigger_id": None}
        )
        reader, writer = await self._request("POST", "/gradio_api/queue/join", body)
        status = await reader.readline()
        writer.close()
        if b" 200 " not in status:
            raise ConnectionError(f"Gradio answered {status.decode().strip()}")
        self._begun.set()

    async def frames(self) -> AsyncIterator[str]:
        await self._begun.wait()
        reader, self._writer = await self._request("GET", f"/gradio_api/queue/data?session_hash={self._session}")
        with suppress(ConnectionError):
            while line := await reader.readline():
                yield line.decode()

    async def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    async def _request(self, method: str, path: str, body: str = "") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(self._host, self._port, limit=2**22)
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\nConnection: close\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        writer.write(f"{head}\r\n{body}".encode())
        await writer.drain()
        return reader, writer
