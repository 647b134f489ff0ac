"""Celery tasks of lemmas; each only calls another module."""

from celery import shared_task


@shared_task(name="lemmas.check_with_kernel")
def check_with_kernel() -> None:
    """Answer the waiting requests to proof assistants."""
    from apps.lemmas.kernel.work import kernel_work

    kernel_work()
