"""Answers many jobs from one warm process, each in a fork of its own with limits on processor time and memory.

Starting Python and SymPy takes longer than most jobs. `python -m apps.mathcheck --serve CPU_S BYTES` reads one job a line and
writes one line for each: the answer, or an empty line if its fork failed. It ends with its input.
"""

import json
import os
import resource
import sys
from collections.abc import Callable
from typing import Any

from apps.mathcheck.checking import warm


def serve(answer: Callable[[dict[str, Any]], dict[str, Any]], cpu_s: int, memory_bytes: int) -> None:
    """Answer the jobs of the standard input, one after another."""
    warm()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os._exit(_answered(answer, line, cpu_s, memory_bytes))
        _, status = os.waitpid(child, 0)
        if status != 0:
            sys.stdout.write("\n")
            sys.stdout.flush()


def _answered(answer: Callable[[dict[str, Any]], dict[str, Any]], line: str, cpu_s: int, memory_bytes: int) -> int:
    """Write the answer in one piece at the end. Returns the exit status of the fork."""
    # A fork begins with a clock of its own, but counts as memory what it shares.
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    try:
        found = json.dumps(answer(json.loads(line)))
    except (KeyError, TypeError, ValueError, MemoryError, RecursionError) as error:
        sys.stderr.write(f"The job is malformed or too large; see docs/tools.md for its shape: {error!r}\n")
        return 2
    sys.stdout.write(found + "\n")
    sys.stdout.flush()
    return 0
