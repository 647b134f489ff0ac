"""The program that makes rows of a job's feed: kept running, stopped, and its state read. It outlives the driver."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings

from apps.datasets.tokens.shards import tokens_folder
from apps.learning.jobs.folders import locked, replace_text

PRODUCER_LOCK, PRODUCER_PID = "producer.lock", "producer.pid"
#: File of the runs that were left out, for the page.
LEFT = "left.json"
#: Producers started by this process, to be reaped when they have ended.
_started: "list[subprocess.Popen[bytes]]" = []


def producer_keep(folder: Path) -> None:
    """Start the producer of a job's folder, unless it is running."""
    with locked(folder / PRODUCER_LOCK) as lock:
        if lock is None:
            return
        command = [sys.executable, "-m", "apps.recipes.rows.following", "--group", "0", "--job", str(folder)]
        command += ["--feed", str(folder / "feed.jsonl"), "--tokens", str(tokens_folder().resolve())]
        with (folder / "producer.txt").open("ab") as log:
            process = subprocess.Popen(  # noqa: S603  (our own program)
                command,
                cwd=settings.BASE_DIR,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=(lock,),
            )
        _started[:] = [*(one for one in _started if one.poll() is None), process]
        replace_text(folder / PRODUCER_PID, str(process.pid))


def producer_state(folder: Path) -> dict[str, object]:
    """Content of the producer's `stream.json`; empty where there is none yet."""
    try:
        found = json.loads((folder / "stream.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def left_out(folder: Path) -> list[dict[str, Any]]:
    """Runs left out since the driver started, by reason: `count`, `reason`, `examples`."""
    try:
        found = json.loads((folder / LEFT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def producer_stop(folder: Path) -> None:
    """Ask the producer to stop; the next one continues."""
    with locked(folder / PRODUCER_LOCK) as free:
        if free is not None:
            return
    with suppress(OSError, ValueError):
        os.killpg(int((folder / PRODUCER_PID).read_text(encoding="utf-8")), signal.SIGTERM)
