"""Task entry points of marking: each is one call into others."""

from celery import shared_task


@shared_task(name="marks.suggest")
def suggest() -> None:
    """Ask the graders that are turned on about the scripts that wait."""
    from apps.marks.suggesting import suggestions_work

    suggestions_work()
