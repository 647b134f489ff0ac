"""An engine with calls that makes no step is killed. The time of loading is no standstill."""

import asyncio
import contextlib

from apps.reasoning.inference.aliases import parse_aliases
from workers.engines.vllm_engine import RunningEngine

TOML = """
[busy]
backend = "vllm"
title = "Busy"
model = "/models/busy"
context_tokens = 2048

[busy.options]
stalled_after_s = 0.6
"""


class Core:
    """An engine core that always has a call."""

    errored = False

    def get_num_unfinished_requests(self) -> int:
        return 1


class Process:
    kills = 0

    def kill(self) -> None:
        self.kills += 1


async def test_a_call_that_waited_for_a_long_load_has_the_whole_time_for_its_first_step() -> None:
    engine, process = RunningEngine(parse_aliases(TOML)["busy"], asyncio.get_running_loop()), Process()
    engine.llm, engine._processes = Core(), [process]  # type: ignore[list-item]
    engine.stats.stepped_at -= 3600
    watch = asyncio.create_task(engine.died())
    await asyncio.sleep(0.4)
    assert process.kills == 0
    await asyncio.sleep(1.0)
    assert process.kills == 1
    assert "made no step for 0.6 s and was ended" in str(engine.lost())
    watch.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await watch
