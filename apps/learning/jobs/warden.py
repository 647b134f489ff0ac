"""Enqueues the task of learning again while jobs wait, every few seconds in the train worker, so that no job is forgotten."""

from apps.learning.jobs.driving import has_room, has_waiting_work
from apps.learning.queues import TRAIN_QUEUE, train


def poll() -> bool:
    """Enqueue the task if work waits and this process has room; return whether it did."""
    if not has_room() or not has_waiting_work():
        return False
    train.apply_async(queue=TRAIN_QUEUE)
    return True
