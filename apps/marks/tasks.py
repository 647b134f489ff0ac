"""Task entry points of marking: each is one call into others."""

from celery import shared_task


@shared_task(name="marks.suggest")
def suggest(lane: str = "quick") -> None:
    """Ask the graders of a lane about the scripts that wait."""
    from apps.marks.answering import suggestions_work

    suggestions_work(lane)
