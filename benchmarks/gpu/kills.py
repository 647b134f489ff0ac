"""Checks that kill an engine's processes, or the process that hosts it as a worker does."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.gpu.checks import Figures, Missing, Place, expect

WITHIN_S = 5.0


async def memory_back(place: Place) -> Figures:
    """Kill the engine core by signal 9: the memory of the GPU is free within five seconds."""
    from benchmarks.gpu.engine import shared_engine

    backend = await shared_engine(place, crowded=True)
    if place.device == "cpu":
        raise Missing("A CPU's memory is not the GPU's.")
    before = _used_mib()
    for process in backend._engine._processes:
        process.kill()
    began = time.monotonic()
    while _used_mib() > before // 4:
        expect(time.monotonic() - began < 5.0, f"{_used_mib()} of {before} MiB are still in use after 5 s.")
        await asyncio.sleep(0.2)
    return {"before_mib": before, "seconds": round(time.monotonic() - began, 1)}


def _used_mib() -> int:
    command = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "--id=0"]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


async def worker_killed(place: Place) -> Figures:
    """Kill the host of an engine by signal 9: its core ends, and the memory of the GPU is free, within five seconds."""
    from benchmarks.gpu.engine import needs_engine

    needs_engine(place)
    before = _used_mib() if place.device != "cpu" else 0
    command = [sys.executable, "-c", HOST, place.device, str(place.folder)]
    host = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert host.stdout is not None
    line = b" "
    while line and not line.startswith(b"cores"):
        line = await host.stdout.readline()
    cores = [int(word) for word in line.split()[1:]]
    expect(bool(cores), "The engine did not start in a process of its own.")
    held = _used_mib() if place.device != "cpu" else 0
    os.kill(host.pid, signal.SIGKILL)
    await host.wait()
    began = time.monotonic()
    while any(_is_alive(core) for core in cores) or (held and _used_mib() > before + (held - before) // 4):
        expect(time.monotonic() - began < WITHIN_S, f"The engine is still there {WITHIN_S:g} s after its host was killed.")
        await asyncio.sleep(0.1)
    return {"processes": len(cores), "held_mib": held - before, "seconds": round(time.monotonic() - began, 1)}


#: The program of the host: device and folder are its arguments; it prints the engine's processes and waits.
HOST = "from benchmarks.gpu.kills import host; host()"


def host() -> None:
    """Start an engine, print `cores` with its process ids, and wait to be killed."""
    asyncio.run(_host(Place(sys.argv[1], Path(sys.argv[2]))))


async def _host(place: Place) -> None:
    from benchmarks.gpu.engine import started

    backend: Any = await started(place, concurrency=4, blocks=64)
    cores = [str(process.pid) for process in backend._engine._processes]
    sys.stdout.write(f"cores {' '.join(cores)}\n")
    sys.stdout.flush()
    await asyncio.sleep(600)


def _is_alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not yet collected counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
