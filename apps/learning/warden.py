"""Sees to it that no job is forgotten: a thread in the train worker sends the task again where a job waits."""

import logging
import threading

from django.db import close_old_connections
from django.db.utils import DatabaseError
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from apps.learning.driving import close, has_room, somebody_waits
from apps.learning.tasks import TRAIN_QUEUE, train

logger = logging.getLogger(__name__)
EVERY_S = 3.0
_stopped = threading.Event()


def start() -> threading.Thread:
    """Look until the process ends."""
    thread = threading.Thread(target=_look_for_ever, name="training", daemon=True)
    thread.start()
    return thread


def stop() -> None:
    """Begin nothing any more; trainers are asked to save."""
    _stopped.set()
    close()


def look() -> bool:
    """Sends the task where a job waits and this process has room; whether it did."""
    if not has_room() or not somebody_waits():
        return False
    train.apply_async(queue=TRAIN_QUEUE)
    return True


def _look_for_ever() -> None:
    while not _stopped.is_set():
        try:
            look()
        except (DatabaseError, RedisError, OperationalError, OSError) as error:
            logger.warning("training: nobody can be told of jobs that wait (%s)", error)
        except Exception:  # The one thread that finds lost jobs must not end.
            logger.exception("training")
        finally:
            close_old_connections()
        _stopped.wait(EVERY_S)
