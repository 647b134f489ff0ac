"""Runs groups of checks in processes of the environments that they need, each check with its own deadline."""

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from benchmarks.gpu.checks import Check, Result, Where

ROOT = Path(__file__).resolve().parents[2]
START_S = 20.0  # A process loads torch before its first check.
HOW = {"trainer": "make setup-train", "engine": "make setup-vllm", "anywhere": "make setup"}


async def results(
    checks: Sequence[Check], pythons: Mapping[Where, Path], device: str, folder: Path, seconds: float
) -> AsyncIterator[Result]:
    """The results of all checks, in their order. After `seconds` the rest is reported as missing."""
    end = time.monotonic() + seconds
    for _, members in groupby(checks, lambda check: check.group):
        left = list(members)
        while left:
            async for result in _of_group(tuple(left), pythons, device, folder, end):
                left.pop(0)
                yield result


async def _of_group(
    checks: Sequence[Check], pythons: Mapping[Where, Path], device: str, folder: Path, end: float
) -> AsyncIterator[Result]:
    """The results of a process, up to the check that it does not survive."""
    first = checks[0]
    python = pythons[first.where]
    if not python.exists():
        for check in checks:
            yield Result(check.name, "missing", f"There is no {os.path.relpath(python, ROOT)} ({HOW[first.where]}).")
        return
    log = folder / f"{first.name}.log"
    command = [str(python), "-m", "benchmarks.gpu", "--child", *(check.name for check in checks)]
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *command, "--device", device, "--folder", str(folder), cwd=ROOT, stdout=-1, stderr=errors, start_new_session=True
        )
    assert process.stdout is not None
    try:
        for number, check in enumerate(checks):
            left = min(check.seconds + (0.0 if number else START_S), end - time.monotonic())
            result = await _next(process.stdout, check, left, log)
            yield result or Result(check.name, "failed", f"It took longer than {left:.0f} s and was ended.")
            if result is None or process.stdout.at_eof():
                return
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def _next(lines: asyncio.StreamReader, check: Check, left: float, log: Path) -> Result | None:
    """The next result of a process, which has `left` seconds for it; None if it takes longer."""
    if left <= 0:
        return Result(check.name, "missing", "The time of all checks was over.")
    try:
        line = await asyncio.wait_for(lines.readline(), left)
    except TimeoutError:
        return None
    return Result(**json.loads(line)) if line else Result(check.name, "failed", f"Its process ended: {_last_line(log)}")


def _last_line(log: Path) -> str:
    return (log.read_text(errors="replace").strip().splitlines() or ["it said nothing"])[-1][:300]
