"""Refusals of services as messages on the next page."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.http import HttpRequest


@contextmanager
def refusals_shown(request: HttpRequest, *refusals: type[Exception]) -> Iterator[None]:
    """Show a refusal as an error message instead of raising it; the rest of the block does not run."""
    try:
        yield
    except refusals as refused:
        messages.error(request, str(refused))
