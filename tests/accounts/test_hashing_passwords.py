"""Password hashing has limits on memory, concurrency and its queue; older hashes still work."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher, PBKDF2PasswordHasher
from django.core.cache import caches
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts import hashing
from apps.accounts.hashing import AT_ONCE, BoundedArgon2Hasher, HashingBusy, hashing_place
from apps.accounts.models import User
from apps.config import settings as shipped
from tests.cast import PASSWORD


@pytest.fixture(autouse=True)
def _real_hasher(settings: Settings) -> Iterator[None]:
    settings.PASSWORD_HASHERS = shipped.PASSWORD_HASHERS
    yield
    caches["default"].clear()


def _sign_in(name: str = "alice") -> Any:
    return Client().post(reverse("accounts:login"), {"username": name, "password": PASSWORD})


def test_all_concurrent_hashes_fit_into_a_web_process_of_one_gigabyte() -> None:
    assert AT_ONCE * BoundedArgon2Hasher.memory_cost <= 100 * 1024
    assert BoundedArgon2Hasher().encode(PASSWORD, "a-salt-of-our-own").startswith("argon2$argon2id$v=19$m=47104,t=2,p=1$")


def test_an_older_hash_opens_the_account_and_is_replaced(alice: User) -> None:
    older = Argon2PasswordHasher()
    older.time_cost, older.memory_cost = 1, 1024
    User.objects.filter(pk=alice.pk).update(password=older.encode(PASSWORD, "a-salt-of-our-own"))
    assert _sign_in().status_code == 302
    alice.refresh_from_db()
    assert "m=47104,t=2,p=1" in alice.password
    assert alice.check_password(PASSWORD)


def test_a_hash_of_an_unknown_kind_is_rejected(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(password=PBKDF2PasswordHasher().encode(PASSWORD, "salt", iterations=1))
    assert _sign_in().status_code == 200


def test_concurrent_hashes_never_exceed_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    running, most, gate = 0, 0, threading.Lock()
    met = threading.Barrier(AT_ONCE)

    def slow(*_: object) -> str:
        nonlocal running, most
        with gate:
            running += 1
            most = max(most, running)
        with suppress(threading.BrokenBarrierError):
            met.wait(5)  # All places are in use at the same time.
        with gate:
            running -= 1
        return ""

    monkeypatch.setattr(Argon2PasswordHasher, "encode", slow)
    threads = [threading.Thread(target=BoundedArgon2Hasher().encode, args=("", "")) for _ in range(4 * AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == AT_ONCE


def test_a_full_queue_answers_503_and_counts_no_attempt(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "_queue", threading.BoundedSemaphore(1))
    with ExitStack() as places:
        places.enter_context(hashing_place())
        answers: list[Any] = []
        other = threading.Thread(target=lambda: answers.append(_refused()))
        other.start()
        other.join()
        assert answers == [True]
        monkeypatch.setattr(hashing._held, "place", False)  # This thread acts like another one.
        for _ in range(12):
            answer = _sign_in()
            assert (answer.status_code, answer["Retry-After"]) == (503, "5")
            assert "Yours was not checked" in answer.content.decode()
        monkeypatch.setattr(hashing._held, "place", True)
    assert _sign_in().status_code == 302


def _refused() -> bool:
    try:
        with hashing_place():
            return False
    except HashingBusy:
        return True
