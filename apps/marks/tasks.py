"""Task entry points of marking: each is one call into others."""

from celery import shared_task


@shared_task(name="marks.suggest")
def suggest(case_pk: int) -> None:
    """Ask the graders that are turned on about the script of a case."""
    from apps.marks.suggesting import case_suggest

    case_suggest(case_pk)
