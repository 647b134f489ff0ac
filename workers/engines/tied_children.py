"""Child processes that the kernel ends with us.

vLLM's engine core is a child of the worker by `multiprocessing`. A worker that is killed cannot end it, and an orphan keeps the
GPU. On Linux a process may ask to be killed when the thread that started it is gone, so children are started through a short
script that asks for it first.
"""

import contextlib
import multiprocessing.spawn
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

_ASK = (
    "import ctypes,os,signal,sys\n"
    "ctypes.CDLL(None).prctl(1,signal.SIGKILL,0,0,0)\n"  # PR_SET_PDEATHSIG
    "os.getppid()==int(sys.argv[1]) or os._exit(1)\n"  # The parent died before we could ask.
    "os.execv(sys.argv[2],sys.argv[2:])"
)


@contextlib.contextmanager
def tied_children(folder: Path) -> Iterator[None]:
    """Spawned processes that are started meanwhile die with the thread that starts them. `folder` takes the script.

    The thread must outlive the children. Elsewhere than on Linux nothing changes.
    """
    if sys.platform != "linux":
        yield
        return
    script = folder / "tied-python"
    python = shlex.quote(sys.executable)
    script.write_text(f'#!/bin/sh\nexec {python} -I -S -c {shlex.quote(_ASK)} {os.getpid()} {python} "$@"\n')
    script.chmod(0o700)
    before = multiprocessing.spawn.get_executable()
    multiprocessing.spawn.set_executable(str(script))
    try:
        yield
    finally:
        multiprocessing.spawn.set_executable(before)
