"""Password hashing for web processes with 1 GB: 46 MiB per hash, two at a time, a short queue (docs/adr/0025).

This is the only entry of `PASSWORD_HASHERS`, so every path uses it: sign-in, change of password, new accounts. Hashes with
other parameters still verify; Django replaces them at the next sign-in.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.hashers import Argon2PasswordHasher

from apps.ui.unavailable import Unavailable

AT_ONCE, WAITING_AT_MOST, WAIT_S = 2, 64, 10.0

_places = threading.BoundedSemaphore(AT_ONCE)
_queue = threading.BoundedSemaphore(AT_ONCE + WAITING_AT_MOST)
_held = threading.local()


class HashingBusy(Unavailable):
    """The server is checking too many passwords at once."""

    retry_after_s = 5
    headline = "Many people are signing in."
    explanation = "The server checks a few passwords at a time. Yours was not checked."
    advice = "Try again in a few seconds."


@contextmanager
def hashing_place() -> Iterator[None]:
    """Hold one of the few places; reentrant per thread. Raises `HashingBusy` if the queue is full or slow.

    Take the place before the first query, so that a waiting request holds no connection of the pool.
    """
    if getattr(_held, "place", False):
        yield
        return
    if not _queue.acquire(blocking=False):
        raise HashingBusy
    try:
        if not _places.acquire(timeout=WAIT_S):
            raise HashingBusy
        _held.place = True
        try:
            yield
        finally:
            _held.place = False
            _places.release()
    finally:
        _queue.release()


class BoundedArgon2Hasher(Argon2PasswordHasher):
    """Argon2id with 46 MiB, one lane, and twice the passes that OWASP recommends for that size."""

    time_cost = 2
    memory_cost = 46 * 1024  # KiB
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        with hashing_place():
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with hashing_place():
            return super().verify(password, encoded)
