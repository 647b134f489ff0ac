"""Counting of a benchmark's viewers: every token once, from the moment it was due; lost tokens separately."""

import asyncio
import time
from collections.abc import AsyncIterator

from benchmarks.pages import watching
from benchmarks.pages.watching import Viewer, Watched, watch


class ReadyViewer(Viewer):
    """A viewer of prepared frames."""

    def __init__(self, frames: list[str]) -> None:
        self._frames = frames

    async def frames(self) -> AsyncIterator[str]:
        for frame in self._frames:
            yield frame
            await asyncio.sleep(0)


async def nothing_more() -> None:
    return None


async def test_tokens_that_frames_repeat_are_counted_once() -> None:
    now = time.time_ns()
    first, second = f"t{now - 2_000_000_000} ", f"t{now - 1_000_000_000} "
    seen = await watch(lambda: ReadyViewer([f'["{first}"]', first + second]), 3, 2, nothing_more)
    assert seen.lost == 0
    assert len(seen.delays) == 6
    assert 900 < min(seen.delays) < max(seen.delays) < 9000


async def test_a_lost_token_is_the_slowest() -> None:
    seen = await watch(lambda: ReadyViewer([f"t{time.time_ns()} "]), 2, 4, nothing_more)
    assert seen.lost == 6
    assert seen.late == watching.GRACE_S * 1000


def test_the_late_percentile_includes_lost_tokens() -> None:
    whole = Watched(delays=[1.0] * 100, expected=100)
    holed = Watched(delays=[1.0] * 80, expected=100)
    assert (whole.late, whole.median) == (1.0, 1.0)
    assert holed.late > 1000
    assert holed.median == 1.0
