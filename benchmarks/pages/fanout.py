"""A streamed text watched by 20, 100 and 300 viewers: on our page's socket and on three others, one after the other.

All use the same fake model: 20 tokens a second of 21 characters, each containing the time at which it was due. A delay is the
time from then to the frame in the viewer. All processes run on this machine with one clock; a lost token counts as the slowest.
The same client (watching.py) reads all servers and searches tokens in raw frames.

The benchmark compares the path from a model's token to N screens. In our case and for `group_send`, the model is a separate
process that writes one text, and all viewers watch it. In our case that process is a worker's host and publisher, which collect
the text of calls; with `group_send`, a plain Channels design with default channels-redis, it sends at once.

Chainlit and Gradio have no shared text. There each viewer has its own chat, and the model (which only sleeps) runs N times in
the server, as in their documentation; Gradio may run all N at once. All copies keep the same beat, so that N tokens are due at
the same moment everywhere. Chats that start at different moments, as people's do, spread their work over time. Chainlit is also
measured this way, without a target, because viewers of one text cannot do this.

Not compared: the extra work of our sockets, which catch up, carry events and numbers, check permissions, and send tokens in
frames of 25 ms; the browser's part; servers with several processes. Environments are created on first use (rivals/servers.py).
"""

import asyncio
import functools
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Literal

from benchmarks.figures import Figure, Skipped
from benchmarks.pages.watching import TOKENS_PER_S, Watched, watch

VIEWERS, QUICK_VIEWERS = (20, 100, 300), (20,)
COMPARED_AT = 100
SECONDS, QUICK_SECONDS = 10, 3
CALL = "s0/r1/reason"
CHART = "Token → viewer, 95th percentile in ms, by number of viewers"
RIVALS = {"channels": "group_send", "chainlit": "Chainlit", "gradio": "Gradio"}
TIMES_LOWER = {"chainlit", "gradio"}


def figures(quick: bool = False) -> list[Figure]:
    """Delays and losses by number of viewers for us and the others, and the ratios."""
    from benchmarks import stage

    folder = stage.set_up()
    levels, seconds = (QUICK_VIEWERS, QUICK_SECONDS) if quick else (VIEWERS, SECONDS)
    tokens = seconds * TOKENS_PER_S
    ours, found = _ours(folder, levels, tokens)
    for rival, title in RIVALS.items():
        try:
            theirs = _theirs(rival, folder, levels, tokens)
        except Skipped as reason:
            print(f"{title}: {reason}", file=sys.stderr)
            continue
        found += list(_of_a_rival(rival, title, ours, theirs))
        if rival == "chainlit":
            spread = _theirs(rival, folder, tuple(level for level in levels if level <= COMPARED_AT), tokens, beat="own")
            found += list(_of_a_rival(f"{rival} spread", f"{title}, each chat on its own beat", ours, spread))
    return [*found, Figure("tokens a second", TOKENS_PER_S), Figure("seconds", seconds)]


def _of_a_rival(rival: str, title: str, ours: dict[int, Watched], theirs: dict[int, Watched]) -> Iterator[Figure]:
    for viewers, watched in theirs.items():
        yield Figure(f"{title}, {viewers} viewers, 95th percentile", watched.late, "ms", chart=CHART, line=title, at=viewers)
        yield Figure("… median", watched.median, "ms")
        yield Figure("… tokens lost", watched.lost)
        wanted = 3 if viewers == COMPARED_AT and rival in TIMES_LOWER else None
        yield Figure(f"… theirs ÷ ours, {viewers} viewers", watched.late / ours[viewers].late, "times", wanted, "at least")


def _ours(folder: Path, levels: tuple[int, ...], tokens: int) -> tuple[dict[int, Watched], list[Figure]]:
    from django.conf import settings

    from benchmarks.pages import viewers
    from benchmarks.processes import Processes
    from benchmarks.rivals.viewers import run_socket

    cookie, run = viewers.session_cookie(), str(viewers.live_run("at-once").public_id)
    address = f"127.0.0.1:{settings.PORT}"
    command = [sys.executable, "-m", "benchmarks.engines.publishing", run, CALL, str(tokens), str(TOKENS_PER_S)]
    seen: dict[int, Watched] = {}
    found: list[Figure] = []
    with Processes("valkey", "web", folder=folder) as processes:
        for level in levels:
            before = processes.cpu_s()["web"]
            publisher = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            assert publisher.stdout is not None
            publisher.stdout.readline()
            seen[level] = asyncio.run(watch(lambda: run_socket(address, run, CALL, cookie), level, tokens, _played(publisher)))
            cpu = processes.cpu_s()["web"] - before
            found += _of_a_level(level, seen[level], cpu)
    return seen, found


def _of_a_level(viewers: int, watched: Watched, cpu_s: float) -> list[Figure]:
    wanted = {100: 50.0, 300: 300.0}.get(viewers)
    return [
        Figure(
            f"{viewers} viewers, 95th percentile",
            watched.late,
            "ms",
            wanted,
            "under",
            chart=CHART,
            line="Lemmascope",
            at=viewers,
        ),
        Figure("… median", watched.median, "ms"),
        Figure("… slowest", max(watched.delays), "ms"),
        Figure("… tokens lost", watched.lost, "", 0, "at most"),
        Figure("… CPU of the web process per token and viewer", 1000 * cpu_s / watched.expected, "ms"),
    ]


def _theirs(
    rival: str, folder: Path, levels: tuple[int, ...], tokens: int, beat: Literal["one", "own"] = "one"
) -> dict[int, Watched]:
    """Measure a rival at every level. Raises `Skipped`."""
    from django.conf import settings

    from benchmarks.processes import Processes
    from benchmarks.rivals.servers import RivalServer
    from benchmarks.rivals.viewers import ChainlitViewer, GradioViewer, SocketViewer

    seen: dict[int, Watched] = {}
    stores = ("valkey",) if rival == "channels" else ()
    redis_url = settings.REDIS_URL.replace("?db=0", "")
    with (
        Processes(*stores, folder=folder),
        RivalServer(rival, folder=folder, tokens=tokens, tokens_per_s=TOKENS_PER_S, redis_url=redis_url, beat=beat) as server,
    ):
        address = server.address
        for level in levels:
            if rival == "chainlit":
                seen[level] = asyncio.run(watch(lambda: ChainlitViewer(address), level, tokens))
            elif rival == "gradio":
                seen[level] = asyncio.run(watch(lambda: GradioViewer(address), level, tokens))
            else:
                publish = _played(server.publisher())
                viewer = functools.partial(SocketViewer, f"ws://{address}/tail/", ready="ready")
                seen[level] = asyncio.run(watch(viewer, level, tokens, publish))
    return seen


def _played(publisher: "subprocess.Popen[str]") -> Callable[[], Awaitable[None]]:
    """A function that starts a waiting publisher and returns at its end."""

    async def play() -> None:
        await asyncio.to_thread(publisher.communicate, "go\n")

    return play
