"""Limits on failed sign-ins: by user name and address against guessing a password, by address against trying many names.

The counts live in Django's cache: in the process's memory on a laptop, in Redis for all web processes of an installation. While
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
WINDOW_S = 600
_IPV6_NETWORK = 64  # A household or a rented server has that many addresses of its own.

_T = TypeVar("_T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Refused:
    """Which limit is reached, and after how many seconds the next attempt counts."""

    limit: Literal["name", "address"]
    wait_s: float


def attempt_take(username: str, address: str) -> Refused | None:
    """Count an attempt before its password is checked; say which limit refuses it, None where it may go on."""

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
    """After the right password: forget the name's failures and give this attempt back to the address."""

    def work(store: BaseCache) -> None:
        store.delete(_by_name(username, address))
        _give_back(store, _by_address(address))

    _shared(work)


def change_take(person: int) -> Refused | None:
    """Count an old password that is about to be checked for a change of password."""
    wait = _shared(lambda store: _take(store, _digest("change", str(person)), ATTEMPTS))
    return Refused("name", wait) if wait else None


def change_give_back(person: int) -> None:
    """Take back an attempt whose old password was never checked."""
    _shared(lambda store: _give_back(store, _digest("change", str(person))))


def change_forget(person: int) -> None:
    """After the right old password: count from nothing again."""
    _shared(lambda store: store.delete(_digest("change", str(person))))


def _shared(work: Callable[[BaseCache], _T]) -> _T:
    try:
        return work(cache)
    except (redis.RedisError, OSError) as error:
        logger.warning("sign-ins are counted by this process alone: %s", error)
        return work(caches["local"])


def _take(store: BaseCache, name: str, most: int) -> float:
    """Count one; give the seconds to wait where that is more than `most` in this window."""
    now = time.time()
    until = float(store.get_or_set(name, now + WINDOW_S, WINDOW_S) or 0)
    if until <= now:
        until = now + WINDOW_S
        store.set(name, until, WINDOW_S)
    counter = f"{name}:{until}"
    store.add(counter, 0, WINDOW_S)
    return until - now if store.incr(counter) > most else 0.0


def _give_back(store: BaseCache, name: str) -> None:
    with suppress(ValueError):  # The window has ended meanwhile, and the count with it.
        store.decr(f"{name}:{store.get(name)}")


def _by_name(username: str, address: str) -> str:
    return _digest("sign-in", address, username)


def _by_address(address: str) -> str:
    with suppress(ValueError):
        if (parsed := ipaddress.ip_address(address)).version == 6:
            address = str(ipaddress.ip_network((parsed, _IPV6_NETWORK), strict=False))
    return _digest("sign-in-from", address)


def _digest(kind: str, *parts: str) -> str:
    return f"{kind}:" + hashlib.sha256("\n".join(parts).encode()).hexdigest()
