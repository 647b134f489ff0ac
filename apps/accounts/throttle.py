"""Wrong passwords are limited by user name and address, so that a password cannot be guessed by trying.

The count lies in Django's cache: per process on a laptop, in Redis for all processes of an installation.
"""

import hashlib
import time

from django.core.cache import cache

ATTEMPTS = 10
WINDOW_S = 600


def attempt_take(username: str, address: str) -> float:
    """Count an attempt before its password is looked at; give the seconds to wait, 0 where it may go on."""
    name, now = _name(username, address), time.time()
    until = float(cache.get_or_set(name, now + WINDOW_S, WINDOW_S) or 0)
    if until <= now:
        until = now + WINDOW_S
        cache.set(name, until, WINDOW_S)
    counter = f"{name}:{until}"
    cache.add(counter, 0, WINDOW_S)
    return until - now if cache.incr(counter) > ATTEMPTS else 0.0


def attempts_forget(username: str, address: str) -> None:
    """Begin anew, after the right password."""
    cache.delete(_name(username, address))


def _name(username: str, address: str) -> str:
    return "sign-in:" + hashlib.sha256(f"{address}\n{username}".encode()).hexdigest()
