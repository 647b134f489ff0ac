"""Idempotency keys: a writing request that is sent again gets the first answer, and changes nothing twice."""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from ninja import Header, Schema

from apps.accounts.access import user_of
from apps.accounts.models import ApiAnswer
from apps.config.api.refusals import ApiRefused

KEPT = timedelta(hours=24)
KEY: Any = Header(  # type: ignore[type-arg]
    None,
    alias="Idempotency-Key",
    min_length=1,
    max_length=200,
    description="a new random text for each request; the request with this key gets the same answer for 24 hours",
)


def once(request: HttpRequest, key: str | None, work: Callable[[], Schema]) -> dict[str, Any]:
    """Do the work in a transaction and return its answer; with a known key, return the first answer instead.

    The row of the key is unique and commits with the work, so that two requests at once do it once. A refused request leaves
    no row. Raises `ApiRefused` for a key of another request.
    """
    with transaction.atomic():
        if key is None:
            return work().model_dump(mode="json")
        user, digest = user_of(request), _digest_of(request)
        user.api_answers.filter(at__lt=timezone.now() - KEPT).delete()
        row, is_new = ApiAnswer.objects.get_or_create(user=user, key=key, defaults={"digest": digest})
        if row.digest != digest:
            raise ApiRefused(409, "This Idempotency-Key belongs to another request. Use a new key for each new request.")
        if is_new:
            row.body = work().model_dump(mode="json")
            row.save(update_fields=["body"])
        return row.body


def _digest_of(request: HttpRequest) -> str:
    return hashlib.sha256(b"\n".join([str(request.method).encode(), request.path.encode(), request.body])).hexdigest()
