"""The sandbox: from sending the code to its result, with the warm pool and cold, behind the fence that holds here."""

import asyncio
import time
from statistics import median

from benchmarks.figures import Figure, Skipped, percentiles
from workers.sandbox.execution import Execution
from workers.sandbox.sandbox import Sandbox, SandboxOptions

PLAIN = "print(sum(n * n for n in range(100)))"
SYMPY = """
import sympy
x = sympy.symbols("x")
print(sympy.solve(x**4 - 10 * x**2 + 1, x))
print(sympy.factorint(10**18 + 9))
"""
TIMES, QUICK_TIMES = 30, 5
COLD_TIMES, QUICK_COLD_TIMES = 7, 2
_WARM = 2


def figures(quick: bool = False) -> list[Figure]:
    """Milliseconds of a plain and of a SymPy job; seconds of each without a waiting process."""
    return asyncio.run(_measured(quick))


async def _measured(quick: bool) -> list[Figure]:
    sandbox = Sandbox(SandboxOptions(warm=_WARM))
    found = await sandbox.probe()
    if found.level == "off":
        raise Skipped(str(found))
    times = QUICK_TIMES if quick else TIMES
    try:
        plain = [await _from_the_pool(sandbox, PLAIN) for _ in range(times)]
        sympy = [await _from_the_pool(sandbox, SYMPY) for _ in range(times)]
        began = time.perf_counter()
        results = await asyncio.gather(*(sandbox.run(PLAIN) for _ in range(times)))
        together = len(results) / (time.perf_counter() - began)
    finally:
        await sandbox.close()
    cold_times = range(QUICK_COLD_TIMES if quick else COLD_TIMES)
    cold, cold_sympy = [await _cold(PLAIN) for _ in cold_times], [await _cold(SYMPY) for _ in cold_times]
    return [
        Figure("p50 plain: code from the warm pool", 1000 * median(plain), "ms", 40, "under"),
        Figure("… p95", 1000 * percentiles(plain)[1], "ms"),
        Figure("p50 sympy: a job from the warm pool", 1000 * median(sympy), "ms", 300, "under"),
        Figure("… p95", 1000 * percentiles(sympy)[1], "ms"),
        Figure("p50 plain, cold: no process waits", median(cold), "s", 1.2, "under"),
        Figure("p50 sympy, cold: no process waits", median(cold_sympy), "s", 1.2, "under"),
        Figure("plain code, limited by the start of processes", together, "a second"),
    ]


async def _from_the_pool(sandbox: Sandbox, code: str) -> float:
    """Seconds of one job, with a full and idle pool before it."""
    await sandbox.warm_up()
    while sandbox.ready < _WARM:
        await asyncio.sleep(0.01)
    return await _timed(sandbox, code)


async def _cold(code: str) -> float:
    sandbox = Sandbox(SandboxOptions(warm=0))
    await sandbox.probe()
    try:
        return await _timed(sandbox, code)
    finally:
        await sandbox.close()


async def _timed(sandbox: Sandbox, code: str) -> float:
    began = time.perf_counter()
    done: Execution = await sandbox.run(code)
    if done.error:
        raise SystemExit(f"the job ended with {done.error}: {done.stderr}")
    return time.perf_counter() - began
