"""How a worker process ends itself when it cannot go on: with an exit code that tells logs and supervisors why.

A test process never ends this way: the suite replaces `end_process` (tests/conftest.py), and a test that would have ended its
process fails instead.
"""

import logging
import os

log = logging.getLogger(__name__)

EXIT_STUCK = 70
EXIT_ENGINE_LOST = 71


def end_process(code: int, reason: str) -> None:
    """Log `reason` and end this process at once, without clean-up; a supervisor starts it again."""
    log.critical("%s; this process ends and is started again", reason)
    os._exit(code)
