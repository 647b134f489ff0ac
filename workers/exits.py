"""Exit codes of a worker process that cannot continue; logs and supervisors show the reason.

The suite replaces `end_process` (tests/conftest.py): a test that would end its process fails instead.
"""

import logging
import os

log = logging.getLogger(__name__)

EXIT_STUCK = 70
EXIT_ENGINE_LOST = 71


def end_process(code: int, reason: str) -> None:
    """Log `reason` and end this process at once, without clean-up. A supervisor restarts it."""
    log.critical("%s; this process exits so that its supervisor restarts it", reason)
    os._exit(code)
