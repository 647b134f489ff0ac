"""Celery tasks of learning; each only calls another module."""

from celery import shared_task


@shared_task(name="learning.train", acks_late=False)
def train() -> None:
    """Drive the waiting training jobs. The train worker's warden enqueues a lost message again."""
    from apps.learning.jobs.driving import training_work

    training_work()
