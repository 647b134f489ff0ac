"""One call of a run watched by 100 sockets: 20 entries a second on the token stream, each with the moment it was put there.

A real web process serves; this process is the publisher and all viewers, so one clock tells how long an entry took.
"""

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

from benchmarks.figures import Figure, percentiles

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

SOCKETS, QUICK_SOCKETS = 100, 20
FRAMES_PER_S = 20
SECONDS, QUICK_SECONDS = 10, 3
CALL = "s0/r1/reason"


def figures(quick: bool = False) -> list[Figure]:
    """How long an entry takes from the stream to the viewers, and how many were lost."""
    from benchmarks import stage

    folder = stage.set_up()
    from benchmarks import viewers
    from benchmarks.processes import Processes

    sockets, seconds = (QUICK_SOCKETS, QUICK_SECONDS) if quick else (SOCKETS, SECONDS)
    cookie, run = viewers.session_cookie(), viewers.live_run("at-once")
    with Processes("valkey", "web", folder=folder) as processes:
        before = processes.cpu_s()["web"]
        delays = asyncio.run(_watch(str(run.public_id), cookie, sockets, seconds * FRAMES_PER_S))
        cpu = processes.cpu_s()["web"] - before
    expected = sockets * seconds * FRAMES_PER_S
    middle, late = percentiles(delays)
    return [
        Figure("stream → viewer, 95th percentile", late, "ms", 50, "under"),
        Figure("… median", middle, "ms"),
        Figure("… slowest", max(delays), "ms"),
        Figure("entries lost", expected - len(delays), "", 0, "at most"),
        Figure("sockets", sockets),
        Figure("entries a second", FRAMES_PER_S),
        Figure("CPU of the web process per frame sent", 1000 * cpu / expected, "ms"),
    ]


async def _watch(run: str, cookie: tuple[str, str], sockets: int, frames: int) -> list[float]:
    """Milliseconds that each entry took to each viewer."""
    from django.conf import settings
    from websockets.asyncio.client import connect

    address = f"127.0.0.1:{settings.PORT}"
    headers = {"Cookie": "=".join(cookie), "Origin": f"http://{address}"}
    delays: list[float] = []

    async def open_socket() -> "ClientConnection":
        socket = await connect(f"ws://{address}/ws/runs/{run}/?after=0", additional_headers=headers, compression=None)
        await socket.send(json.dumps({"t": "watch", "calls": [CALL]}))
        while json.loads(await socket.recv())["t"] != "text":
            pass
        return socket

    async def read(socket: "ClientConnection") -> None:
        seen = 0
        async with socket:
            while seen < frames:
                frame = json.loads(await socket.recv())
                now = time.time_ns()
                for item in frame["items"] if frame["t"] == "tokens" else ():
                    seen += 1
                    delays.append((now - int(item["text"])) / 1e6)

    opened = [await open_socket() for _ in range(sockets)]
    readers = [asyncio.create_task(read(socket)) for socket in opened]
    await _publish(run, frames)
    await asyncio.wait(readers, timeout=5)
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)
    return delays


async def _publish(run: str, frames: int) -> None:
    """Put entries on the token stream as workers/publisher.py does, on a steady beat."""
    from apps.runs.streams import TOKENS_KEPT, async_client, tokens_key

    client = async_client()
    began, offset = time.monotonic(), 0
    for number in range(frames):
        await asyncio.sleep(max(0.0, began + number / FRAMES_PER_S - time.monotonic()))
        text = str(time.time_ns())
        entry: dict[Any, Any] = {
            "call": CALL, "attempt": 1, "ch": "text", "off": offset, "text": text, "n": number + 1
        }  # fmt: skip
        await client.xadd(tokens_key(run), entry, maxlen=TOKENS_KEPT, approximate=True)
        offset += len(text)
    await client.aclose()
