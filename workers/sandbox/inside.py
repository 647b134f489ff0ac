"""The program inside the sandbox: import the libraries, drop all rights, print "ready", read one job, run it, end.

The parent sends it to a bare interpreter over standard input, together with the modules it imports (process.py); it must not
need anything else. Two lines of JSON follow: the set-up, and later the job `{"code", "cpu_s"}`.
"""

import contextlib
import ctypes
import importlib
import io
import json
import linecache
import os
import resource
import signal
import sys
import threading
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from workers.sandbox import landlock, seccomp

READY = b"ready\n"
#: Exit codes that report how the code ended. Code that uses them itself only misreports its own end.
ENDED_BY_EXCEPTION, ENDED_BY_MEMORY = 243, 244
_NAME = "<code>"
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4


def main() -> None:
    """Prepare, run one job, and end the process. Never returns."""
    setup: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    _prepare(setup)
    job = _next_job()
    code = 1
    try:
        code = _run(job["code"], job["cpu_s"])
    finally:
        os._exit(code)


def _prepare(setup: dict[str, Any]) -> None:
    sys.path[:] = [entry for entry in sys.path if entry] + setup["sites"]
    for name in setup["warm"]:
        importlib.import_module(name)
    exec(setup["exercise"], {})  # noqa: S102 - our code; it fills the libraries' caches for the job
    libc = ctypes.CDLL(None)
    if setup["fence"] == "landlock":
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _limit(setup)
    if setup["fence"] != "none":
        # Not dumpable: no core file, also none through a helper of the host, and no other process of the user can inspect it.
        libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    if setup["fence"] == "landlock":
        landlock.restrict(setup["read"], ["/dev/null"])
    if setup["fence"] != "none":
        seccomp.lock(seccomp.locked_filter(os.getpid(), files_may_change=setup["fence"] == "bubblewrap"))


def _limit(setup: dict[str, Any]) -> None:
    limits = {
        resource.RLIMIT_AS: setup["memory_bytes"],
        resource.RLIMIT_FSIZE: setup["file_bytes"],
        resource.RLIMIT_NOFILE: setup["open_files"],
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NPROC: setup["threads"] + (_tasks_of_this_user() if setup["fence"] != "bubblewrap" else 0),
    }
    for which, limit in limits.items():
        _, hard = resource.getrlimit(which)
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(which, (limit, limit))


def _tasks_of_this_user() -> int:
    """The number of tasks of this user: without a separate user namespace, the limit on threads counts them all."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.stat().st_uid == os.getuid():
                count += sum(1 for _ in (process / "task").iterdir())
        except OSError:
            continue
    return count


def _next_job() -> dict[str, Any]:
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    line = sys.stdin.buffer.readline()
    if not line:
        os._exit(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    job: dict[str, Any] = json.loads(line)
    return job


def _run(code: str, cpu_s: float) -> int:
    """Run `code` as the main module. Returns the exit code."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime + cpu_s) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    # Output must leave the process before a limit ends it.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace", line_buffering=True)
    main_module = type(sys)("__main__")
    sys.modules["__main__"] = main_module
    linecache.cache[_NAME] = (len(code), None, code.splitlines(keepends=True), _NAME)
    try:
        try:
            exec(compile(code, _NAME, "exec"), main_module.__dict__)  # noqa: S102 - the purpose of the sandbox
        finally:
            _wait_for_threads()
        return 0
    except SystemExit as end:
        return _code_of(end)
    except MemoryError as error:
        _show(error)
        return ENDED_BY_MEMORY
    except BaseException as error:
        _show(error)
        return ENDED_BY_EXCEPTION
    finally:
        _flush()


def _wait_for_threads() -> None:
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def _code_of(end: SystemExit) -> int:
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 0xFF
    print(end.code, file=sys.stderr)  # noqa: T201 - as the interpreter does
    return ENDED_BY_EXCEPTION


def _show(error: BaseException) -> None:
    """Print the traceback without our own frames."""
    frame: TracebackType | None = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename != _NAME:
        frame = frame.tb_next
    try:
        traceback.print_exception(type(error), error, frame)
    except BaseException:
        os.write(2, f"{type(error).__name__}\n".encode())


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()


if __name__ == "__main__":
    main()
