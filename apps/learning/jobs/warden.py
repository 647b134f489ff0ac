"""Thread of the train worker that enqueues the task again while jobs wait, so that no job is forgotten."""

import logging
import threading

from django.db import close_old_connections
from django.db.utils import DatabaseError
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from apps.learning.jobs.driving import close, has_room, has_waiting_work
from apps.learning.tasks import TRAIN_QUEUE, train

logger = logging.getLogger(__name__)
EVERY_S = 3.0
_stopped = threading.Event()


def start() -> threading.Thread:
    """Start the thread, which polls until the process ends."""
    thread = threading.Thread(target=_poll_forever, name="training", daemon=True)
    thread.start()
    return thread


def stop() -> None:
    """Start no further jobs and ask the trainers to save."""
    _stopped.set()
    close()


def poll() -> bool:
    """Enqueue the task if work waits and this process has room; return whether it did."""
    if not has_room() or not has_waiting_work():
        return False
    train.apply_async(queue=TRAIN_QUEUE)
    return True


def _poll_forever() -> None:
    while not _stopped.is_set():
        try:
            poll()
        except (DatabaseError, RedisError, OperationalError, OSError) as error:
            logger.warning("training: could not enqueue waiting jobs (%s)", error)
        except Exception:  # The only thread that finds lost jobs must not end.
            logger.exception("training")
        finally:
            close_old_connections()
        _stopped.wait(EVERY_S)
