"""Child processes that the kernel ends with us, and their children with them.

vLLM's engine core is a child of the worker by `multiprocessing`, and has a child for each GPU. A worker that is killed cannot
end them, and an orphan keeps the GPU. On Linux a process may ask to be killed when the thread that started it is gone; children
are started through a short script that asks for it first, and that makes them start their own children so.

They get a session of their own as well: a signal to the worker's whole group, as a terminal or a supervisor sends it, would end
the engine at once, and the calls that the worker still lets finish with it.
"""

import contextlib
import multiprocessing.spawn
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

_PARENT = "TIED_TO_PROCESS"

# Run as `python -c … SCRIPT PYTHON ARGUMENTS`. The resource tracker, which comes this way too, is left alone: it cleans up
# behind processes that were killed, so it must outlive them.
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
"""  # 1 is PR_SET_PDEATHSIG; a parent that is another by now died before we could ask.


@contextlib.contextmanager
def tied_children(folder: Path) -> Iterator[None]:
    """Processes that `multiprocessing` spawns meanwhile die with the thread that starts them. `folder` keeps the script.

    Thread and folder must outlive the children. Elsewhere than on Linux nothing changes.
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
