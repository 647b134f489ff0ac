"""Limits on failed sign-ins: per user name and address against guessed passwords, per address against many names. Also a limit
per address on requests without an account for shared runs.

Writing requests of programs are limited per user.

Django's cache holds the counts: in process memory on a laptop, in Redis for all web processes of an installation. While
Redis does not answer, each process counts for itself.
"""

import hashlib
import ipaddress
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeVar

import redis
from django.conf import settings
from django.core.cache import BaseCache, cache, caches

ATTEMPTS = 10
OPENINGS = 600  # Requests for shared runs: a class behind one address opens about 50 pages.
WINDOW_S = 600
WRITES = 300
_IPV6_NETWORK = 64  # Usual prefix of one household or rented server.

_T = TypeVar("_T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Refused:
    """The limit that was reached, and the time in seconds until the next attempt is allowed."""

    limit: Literal["name", "address"]
    wait_s: float


def attempt_take(username: str, address: str) -> Refused | None:
    """Count an attempt before its password is checked; return the limit that refuses it, or None."""

    def work(store: BaseCache) -> Refused | None:
        if wait := _take(store, _by_name(username, address), ATTEMPTS):
            return Refused("name", wait)
        if wait := _take(store, _by_address(address), settings.SIGN_IN_FAILURES_PER_ADDRESS):
            _give_back(store, _by_name(username, address))
            return Refused("address", wait)
        return None

    return _shared(work)


def attempt_give_back(username: str, address: str) -> None:
    """Take back an attempt whose password was never checked."""

    def work(store: BaseCache) -> None:
        _give_back(store, _by_name(username, address))
        _give_back(store, _by_address(address))

    _shared(work)


def attempts_forget(username: str, address: str) -> None:
    """After the right password, reset the count of the name and take this attempt back from the address."""

    def work(store: BaseCache) -> None:
        store.delete(_by_name(username, address))
        _give_back(store, _by_address(address))

    _shared(work)


def change_take(person: int) -> Refused | None:
    """Count an attempt to change a password before the old one is checked."""
    wait = _shared(lambda store: _take(store, _digest("change", str(person)), ATTEMPTS))
    return Refused("name", wait) if wait else None


def change_give_back(person: int) -> None:
    """Take back an attempt whose old password was never checked."""
    _shared(lambda store: _give_back(store, _digest("change", str(person))))


def change_forget(person: int) -> None:
    """Reset the count after the right old password."""
    _shared(lambda store: store.delete(_digest("change", str(person))))


def opening_take(address: str) -> Refused | None:
    """Count a request for a shared run by an address; return the limit that refuses it, or None."""
    wait = _shared(lambda store: _take(store, _by_address(address, "shared-from"), OPENINGS))
    return Refused("address", wait) if wait else None


def write_take(person: int) -> float:
    """Count a writing request of a program; return the seconds to wait if there were too many in this window, else 0."""
    return _shared(lambda store: _take(store, _digest("write", str(person)), WRITES))


def _shared(work: Callable[[BaseCache], _T]) -> _T:
    try:
        return work(cache)
    except (redis.RedisError, OSError) as error:
        logger.warning("Redis is unavailable; this process counts sign-ins alone: %s", error)
        return work(caches["local"])


def _take(store: BaseCache, name: str, most: int) -> float:
    """Count one attempt; return the seconds to wait if there are more than `most` in this window, else 0."""
    now = time.time()
    until = float(store.get_or_set(name, now + WINDOW_S, WINDOW_S) or 0)
    if until <= now:
        until = now + WINDOW_S
        store.set(name, until, WINDOW_S)
    counter = f"{name}:{until}"
    store.add(counter, 0, WINDOW_S)
    return until - now if store.incr(counter) > most else 0.0


def _give_back(store: BaseCache, name: str) -> None:
    with suppress(ValueError):  # The window has ended, and the count with it.
        store.decr(f"{name}:{store.get(name)}")


def _by_name(username: str, address: str) -> str:
    return _digest("sign-in", address, username)


def _by_address(address: str, kind: str = "sign-in-from") -> str:
    with suppress(ValueError):
        if (parsed := ipaddress.ip_address(address)).version == 6:
            address = str(ipaddress.ip_network((parsed, _IPV6_NETWORK), strict=False))
    return _digest(kind, address)


def _digest(kind: str, *parts: str) -> str:
    return f"{kind}:" + hashlib.sha256("\n".join(parts).encode()).hexdigest()
