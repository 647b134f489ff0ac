"""Child processes that the kernel kills together with this process, and their children too.

vLLM's engine core is a child of the worker by `multiprocessing`, and has a child for each GPU. A killed worker cannot end them,
and an orphan keeps the GPU. On Linux a process can ask to be killed when the thread that started it ends. A short script starts
the children; it asks for this first and makes them start their own children in the same way.

They also get their own session. A terminal or a supervisor signals the worker's whole group; that signal would otherwise end
the engine at once, together with the calls that the worker still lets finish.
"""

import contextlib
import multiprocessing.spawn
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

_PARENT = "TIED_TO_PROCESS"

# Run as `python -c … SCRIPT PYTHON ARGUMENTS`. The resource tracker also starts this way and is not tied: it cleans up after
# killed processes, so it must outlive them.
_ASK = f"""
import ctypes, os, signal, sys
script, *command = sys.argv[1:]
if command[-1] == "--multiprocessing-fork":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != int(os.environ["{_PARENT}"]):
        os._exit(1)
    os.setsid()
    os.environ["{_PARENT}"] = str(os.getpid())
    code = command.index("-c") + 1
    command[code] = f"import multiprocessing.spawn as s; s.set_executable({{script!r}}); {{command[code]}}"
os.execv(command[0], command)
"""  # 1 is PR_SET_PDEATHSIG. If the parent has changed, the real one died before we could ask.


@contextlib.contextmanager
def tied_children(folder: Path) -> Iterator[None]:
    """Tie processes that `multiprocessing` spawns in this block to the thread that starts them. `folder` holds the script.

    Thread and folder must outlive the children. Has no effect except on Linux.
    """
    if sys.platform != "linux":
        yield
        return
    script = folder / "tied-python"
    python = shlex.quote(sys.executable)
    script.write_text(f'#!/bin/sh\nexec {python} -I -S -c {shlex.quote(_ASK)} "$0" {python} "$@"\n')
    script.chmod(0o700)
    before = multiprocessing.spawn.get_executable()
    os.environ[_PARENT] = str(os.getpid())
    multiprocessing.spawn.set_executable(str(script))
    try:
        yield
    finally:
        multiprocessing.spawn.set_executable(before)
