"""Named points where a test can kill a process, one for each row of the failure matrix (docs/life_of_a_run.md).

Without `CRASH_AT` in the environment a point costs one comparison. With `CRASH_AT=name:3` the process kills itself, like
`kill -9`, at the third pass of the point; `CRASH_ONCE_FILE` names a file that marks the crash.
"""

import os
import signal
from pathlib import Path

from django.conf import settings

_seen = 0


def crash_point(name: str) -> None:
    """Die here if a test asked for it."""
    global _seen
    if not settings.CRASH_AT:
        return
    wanted, _, count = settings.CRASH_AT.partition(":")
    if wanted != name:
        return
    _seen += 1
    marker = Path(settings.CRASH_ONCE_FILE) if settings.CRASH_ONCE_FILE else None
    if _seen < int(count or 1) or (marker and marker.exists()):
        return
    if marker:
        marker.write_text(name)
    os.kill(os.getpid(), signal.SIGKILL)
