"""Task entry points of learning: each is one call into others."""

from celery import shared_task

TRAIN_QUEUE = "train"


@shared_task(name="learning.train", acks_late=False)
def train() -> None:
    """Drive the training jobs that wait. A message that gets lost is sent again by the warden of the train worker."""
    from apps.learning.driving import training_work

    training_work()
