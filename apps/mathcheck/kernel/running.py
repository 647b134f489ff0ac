"""Runs a proof assistant on one file in a folder of its own: limits on processor time, memory and files, and no network.

Without bubblewrap only the limits hold. The file is made from parsed formulas, never from the words of a text.
"""

import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MEMORY_BYTES, FILE_BYTES, OUTPUT_CHARACTERS = 3 * 2**30, 64 * 2**20, 20_000
#: The wall clock may take longer than the processor on a busy machine.
WALL_FACTOR = 3.0
#: A shell that reports the processor time of the program, which a fence would hide.
_TIMED = ("/bin/sh", "-c", '"$@"; code=$?; echo; times; exit $code', "sh")
_TIMES = re.compile(r"\n\d+m[\d.]+s \d+m[\d.]+s\n(\d+m[\d.]+s \d+m[\d.]+s)\s*\Z")
_TIME = re.compile(r"(\d+)m([\d.]+)s")
#: Exit codes after the signals of the limit on processor time: SIGXCPU, SIGKILL.
_KILLED = frozenset([128 + 24, 128 + 9, -24, -9])


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program printed, its exit code, its processor time in seconds, and whether a limit ended it."""

    output: str
    code: int
    cpu_s: float
    stopped: bool


def run_in(folder: Path, command: Sequence[str], cpu_s: float, *, memory_bytes: int | None = MEMORY_BYTES) -> Ran:
    """Run a program in `folder` to its end or its limits."""

    def limited() -> None:
        whole = int(cpu_s) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
        if memory_bytes is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))

    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        process = subprocess.Popen(  # noqa: S603  A configured program with a file of ours.
            [*fence(folder), *_TIMED, *command],
            cwd=folder,
            env={
                "PATH": f"{Path(command[0]).parent}:/usr/local/bin:/usr/bin:/bin",
                "HOME": str(folder),
                "TMPDIR": str(folder),
                "LANG": "C.UTF-8",
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=limited,
        )
        stopped = False
        try:
            process.wait(WALL_FACTOR * cpu_s)
        except subprocess.TimeoutExpired:
            stopped = True
        finally:
            _end(process)
        output.seek(0)
        text = output.read(OUTPUT_CHARACTERS)
    text, used = _split(text)
    return Ran(text, process.returncode, used, stopped or process.returncode in _KILLED or used >= cpu_s)


def _split(output: str) -> tuple[str, float]:
    """The output without the shell's two lines of times, and the processor time of the program: the last line."""
    found = _TIMES.search(output)
    if found is None:
        return output, 0.0
    return output[: found.start()], round(
        sum(60 * int(minutes) + float(seconds) for minutes, seconds in _TIME.findall(found[1])), 2
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program with all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def fence(folder: Path) -> list[str]:
    """The command before the program: bubblewrap without network and with the folder alone to write to; empty without it."""
    program = shutil.which("bwrap")
    if program is None or not _fences(program):
        return []
    return [
        *(program, "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--dev", "/dev"),
        *("--bind", str(folder), str(folder), "--chdir", str(folder), "--"),
    ]


@cache
def _fences(program: str) -> bool:
    """Whether bubblewrap may create namespaces here."""
    command = [program, "--unshare-all", "--ro-bind", "/", "/", "true"]
    return subprocess.run(command, capture_output=True, check=False, timeout=20).returncode == 0  # noqa: S603
