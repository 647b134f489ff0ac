"""Wrong passwords are limited for a name from an address; other people and later attempts are not."""

import time
from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.accounts.throttle import ATTEMPTS, WINDOW_S
from tests.cast import PASSWORD


@pytest.fixture(autouse=True)
def _own_cache(settings: Settings) -> Iterator[None]:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "guessing"}}
    cache.clear()
    yield
    cache.clear()


def _sign_in(name: str, password: str, address: str = "127.0.0.1") -> tuple[int, str]:
    data = {"username": name, "password": password}
    answer = Client().post(reverse("accounts:login"), data, REMOTE_ADDR=address)
    return answer.status_code, answer.content.decode()


def _guess_wrong() -> None:
    for _ in range(ATTEMPTS):
        assert _sign_in("alice", "wrong")[0] == 200


def test_the_eleventh_attempt_is_refused_even_with_the_right_password(alice: User) -> None:
    _guess_wrong()
    for password in ("wrong", PASSWORD):
        status, page = _sign_in("alice", password)
        assert status == 429
        assert "Too many attempts" in page
        assert "10 min" in page or "9 min" in page


def test_another_person_and_another_address_are_not_refused(alice: User, bob: User) -> None:
    _guess_wrong()
    assert _sign_in("bob", PASSWORD)[0] == 302
    assert _sign_in("alice", PASSWORD, "192.0.2.1")[0] == 302


def test_the_right_password_works_after_the_wait(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    _guess_wrong()
    now = time.time()
    monkeypatch.setattr("apps.accounts.throttle.time.time", lambda: now + WINDOW_S + 1)
    assert _sign_in("alice", PASSWORD)[0] == 302


def test_the_right_password_begins_the_count_anew(alice: User) -> None:
    for _ in range(2):
        for _ in range(ATTEMPTS - 1):
            assert _sign_in("alice", "wrong")[0] == 200
        assert _sign_in("alice", PASSWORD)[0] == 302
