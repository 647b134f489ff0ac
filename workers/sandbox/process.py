"""One interpreter behind a fence for one piece of code: start it, warm it up, send the code, read the output.

Everything here runs in one event loop. Its thread must outlive the process, because the kernel kills a fenced process when the
thread that started it ends.
"""

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from workers.sandbox import inside, landlock, seccomp, syscalls
from workers.sandbox.execution import Execution, ExecutionError, Limits
from workers.sandbox.fences import Fenced, sandbox_user

LIBRARIES = ("sympy", "numpy", "scipy.optimize", "scipy.special", "scipy.linalg", "networkx", "mpmath")
#: Work that libraries do at first use, done while a process warms up. The code does not see it.
EXERCISE = """
import sympy
_x, _n = sympy.symbols("x"), sympy.symbols("n", integer=True, positive=True)
sympy.solve(_x**2 - 3 * _x + 1, _x), sympy.simplify((_x**2 - 1) / (_x - 1)), sympy.factor(_x**3 - 1), sympy.factorint(360361)
sympy.sympify("x**2 + 1/3").subs(_x, 2), sympy.summation(_n, (_n, 1, 5)), sympy.latex(_x / 2), sympy.eye(2).det()
"""
START_WITHIN_S = 60.0
_END_WITHIN_S = 5.0
_CHUNK = 65536
#: Reads one line of `[[name, source], …]` and creates the modules. The last one runs the job and ends the process.
_BOOT = (
    "import sys,json\n"
    "for n,s in json.loads(sys.stdin.buffer.readline()):\n"
    " m=sys.modules[n]=type(sys)(n);exec(compile(s,n,'exec'),m.__dict__)\n"
    " for p in [n.rpartition('.')]:sys.modules.setdefault(p[0],type(sys)(p[0]));setattr(sys.modules[p[0]],p[2],m)\n"
    "m.main()"
)
_MODULES = json.dumps(
    [
        [module.__name__, Path(str(module.__file__)).read_text(encoding="utf-8")]
        for module in (syscalls, seccomp, landlock, inside)
    ]
).encode()


class NotStarted(Exception):
    """The interpreter did not start behind its fence. The message is its own output."""


class SingleUse:
    """A process that runs one piece of code. Make it with `start`, then `run` once or `close`."""

    def __init__(self, process: asyncio.subprocess.Process, limits: Limits) -> None:
        self._process = process
        self._limits = limits

    @classmethod
    async def start(
        cls, fenced: Fenced, limits: Limits, *, warm: Sequence[str] = LIBRARIES, exercise: str = EXERCISE
    ) -> "SingleUse":
        """Start it and wait until it has imported the modules `warm` and dropped all rights. Raises `NotStarted`."""
        # Never cancel this half way: asyncio could wait for ever for a process whose pipes it has not connected.
        making = asyncio.ensure_future(_made(fenced))
        try:
            process = await asyncio.shield(making)
        except asyncio.CancelledError:
            await asyncio.wait([making])
            if making.exception() is None:
                await cls(making.result(), limits).close()
            raise
        started = cls(process, limits)
        try:
            async with asyncio.timeout(START_WITHIN_S):
                await started._become_ready(fenced, warm, exercise)
        except BaseException:
            await started.close()
            raise
        return started

    async def _become_ready(self, fenced: Fenced, warm: Sequence[str], exercise: str) -> None:
        setup = {
            "fence": fenced.fence,
            "sites": fenced.sites,
            "read": fenced.read,
            "warm": list(warm),
            "exercise": exercise if "sympy" in warm else "",
            **self._limits.model_dump(include={"memory_bytes", "file_bytes", "open_files", "threads"}),
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._process.stdin.write(_MODULES + b"\n" + json.dumps(setup).encode() + b"\n")
            await self._process.stdin.drain()
        if await self._process.stdout.readline() != inside.READY:
            assert self._process.stderr is not None
            output = (await self._process.stderr.read(_CHUNK)).decode(errors="replace").strip()
            raise NotStarted(output.rpartition("\n")[2] or "it ended without any output")

    @property
    def is_alive(self) -> bool:
        return self._process.returncode is None

    async def run(self, code: str, *, wall_s: float | None = None) -> Execution:
        """Run `code` to its end or its limit; `wall_s` shortens the time limit. The process is gone afterwards in any case.

        Cancelling ends the process. Raises `NotStarted` if it ended before it received the code.
        """
        began = time.monotonic()
        output = _Output(self._limits.output_bytes, self._kill)
        timed_out = False
        try:
            await self._hand_over(code)
            wall_s = min(wall_s or self._limits.wall_s, self._limits.wall_s)
            reading = asyncio.ensure_future(self._read(output))
            try:
                done, _ = await asyncio.wait([reading], timeout=wall_s)
                if not done:
                    timed_out = True
                    self._kill()
                    await asyncio.wait([reading], timeout=_END_WITHIN_S)
            finally:
                reading.cancel()
        finally:
            await self.close()
        return self._execution(output, timed_out, time.monotonic() - began)

    async def _hand_over(self, code: str) -> None:
        assert self._process.stdin is not None
        if not self.is_alive:
            raise NotStarted("it ended while waiting for code")
        try:
            self._process.stdin.write(json.dumps({"code": code, "cpu_s": self._limits.cpu_s}).encode() + b"\n")
            await self._process.stdin.drain()
            self._process.stdin.close()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise NotStarted("it ended while waiting for code") from error

    async def _read(self, output: "_Output") -> None:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        await asyncio.gather(output.read(self._process.stdout, output.out), output.read(self._process.stderr, output.err))
        await self._process.wait()

    def _execution(self, output: "_Output", timed_out: bool, duration_s: float) -> Execution:
        code = self._process.returncode
        error, code = _outcome(code if code is not None else -signal.SIGKILL)
        if timed_out:
            error = "timeout"
        elif output.is_over:
            error = "output"
        return Execution(
            stdout=_text(output.out),
            stderr=_text(output.err),
            error=error,
            exit_code=None if timed_out or output.is_over else code,
            duration_s=duration_s,
            truncated=output.is_over,
        )

    def _kill(self) -> None:
        """Kill it and everything behind its fence: bubblewrap's init dies with bubblewrap, and its namespace with init."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def close(self) -> None:
        """End the process and wait for it."""
        self._kill()
        if self._process.stdin is not None:
            self._process.stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_WITHIN_S):
                await self._process.wait()
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            transport.close()  # Pipes that a process behind the fence still holds would stay open.


async def _made(fenced: Fenced) -> asyncio.subprocess.Process:
    with _filter(fenced) as (command, passed):
        return await asyncio.create_subprocess_exec(
            *command,
            "-c",
            _BOOT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=fenced.variables,
            cwd="/",
            pass_fds=passed,
            start_new_session=True,
            limit=_CHUNK,
            **sandbox_user(),  # type: ignore[arg-type]
        )


class _Output:
    """Both streams of one execution, at most `room` bytes together. More output ends the process."""

    def __init__(self, room: int, stop: Callable[[], None]) -> None:
        self.out, self.err = bytearray(), bytearray()
        self.is_over = False
        self._room = room
        self._stop = stop

    async def read(self, stream: asyncio.StreamReader, into: bytearray) -> None:
        while chunk := await stream.read(_CHUNK):
            into += chunk[: self._room]
            if len(chunk) > self._room and not self.is_over:
                self.is_over = True
                self._stop()
            self._room = max(0, self._room - len(chunk))


def _outcome(code: int) -> tuple[ExecutionError, int]:
    """The error that an exit code reports, and the exit code that the interpreter itself would give."""
    if code > 128 and code not in (inside.ENDED_BY_EXCEPTION, inside.ENDED_BY_MEMORY):
        code = 128 - code if code - 128 in set(signal.Signals) else code  # bubblewrap reports signals as shells do.
    if code == -signal.SIGXCPU:
        return "timeout", code
    if code < 0:
        return "killed", code
    if code == inside.ENDED_BY_MEMORY:
        return "memory", 1
    if code == inside.ENDED_BY_EXCEPTION:
        return "exception", 1
    return ("exception", code) if code else ("", 0)


def _text(written: bytearray) -> str:
    """The output as UTF-8 with replacement characters, and without NUL, which databases cannot store."""
    return written.decode("utf-8", errors="replace").replace("\0", "\N{SYMBOL FOR NULL}")


@contextlib.contextmanager
def _filter(fenced: Fenced) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """The command with its filter in a pipe. A filter is far smaller than the buffer of a pipe."""
    if fenced.program is None:
        yield list(fenced.command), ()
        return
    reads, writes = os.pipe()
    try:
        try:
            os.write(writes, fenced.program)
        finally:
            os.close(writes)
        yield [part if part != "{filter}" else str(reads) for part in fenced.command], (reads,)
    finally:
        os.close(reads)
