"""Celery entry points of marking; each makes one call into another module."""

from celery import shared_task


@shared_task(name="marks.suggest")
def suggest(lane: str = "quick") -> None:
    """Answer the waiting suggestions of a lane."""
    from apps.marks.suggestions.answering import suggestions_work

    suggestions_work(lane)
